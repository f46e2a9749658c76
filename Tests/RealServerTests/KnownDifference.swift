#if os(Linux)
  import Errand
  import Testing

  /// True where a connection carries one exchange after another.
  let keepsConnections = CurlLibrary.hasRequestCallback

  extension Trait where Self == ConditionTrait {
    /// The test is of connections that carry one exchange after another, or several at once.
    static var keepsConnections: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "this libcurl makes a connection for each exchange")
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test is of HTTP/2.
    static var speaksHTTP2: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "this libcurl is not trusted with HTTP/2")
    }
  }

  /// A test that fails with some libcurls, for a reason that the guide on transports has in its table of versions.
  struct KnownDifference: TestTrait, SuiteTrait, TestScoping {
    fileprivate let reason: Comment
    fileprivate let isPresent: Bool
    /// The words of the issues that are known; nil is all.
    fileprivate var words: String?

    @concurrent
    func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
      guard isPresent else { return try await function() }
      try await withKnownIssue(reason, isIntermittent: true) {
        try await function()
      } matching: { [words] issue in
        words.map { "\(issue)".contains($0) } ?? true
      }
    }
  }

  extension Trait where Self == KnownDifference {
    /// The test may fail with these versions of libcurl: `0x080100..<0x080200` are 8.1.0 and what follows up to 8.2.
    private static func differs(_ reason: Comment, with versions: Range<UInt32>) -> KnownDifference {
      KnownDifference(reason: reason, isPresent: versions.contains(CurlLibrary.versionNumber))
    }

    /// libcurl 8.12 keeps up to 64 MiB of a stream whose reader stands still.
    static var readsAhead: KnownDifference {
      KnownDifference(
        reason: "a reader who stands still does not make the server wait",
        isPresent: (0x080c00..<0x081000).contains(CurlLibrary.versionNumber), words: "expected that the server waits")
    }

    /// libcurl before 7.80 makes a connection for each exchange.
    static var keepsNoConnections: KnownDifference {
      KnownDifference(
        reason: "each exchange has a connection of its own", isPresent: !RealServerTests.keepsConnections,
        words: "expected that the connection was used again")
    }

    /// libcurl 8.1 cannot send a field of 60 KiB over HTTP/2.
    static var refusesLargeFields: KnownDifference {
      .differs("a large field cannot be sent over HTTP/2", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 keeps its thread busy beside an upload that cannot go on.
    static var staysBusy: KnownDifference {
      .differs("the loop does not sleep beside such a stream", with: 0x080100..<0x080200)
    }

    /// The program `curl`, which has the same libcurl, leaves out a `?` that nothing follows.
    static var dropsEmptyQueries: KnownDifference {
      KnownDifference(
        reason: "curl leaves an empty query out",
        isPresent: (0x080800..<0x081500).contains(CurlLibrary.versionNumber), words: "a//b?")
    }

    /// libcurl 8.1 resets a stream beside uploads that end.
    static var resetsStreamsBesideUploads: KnownDifference {
      .differs("a stream beside uploads that end is reset", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 does not say that a stream was refused.
    static var saysNothingOfRefusals: KnownDifference {
      .differs("a stream that was refused counts as perhaps read", with: 0x080100..<0x080200)
    }

    /// libcurl 7.80 breaks a connection over which a stream is refused before it is sent, or which a GOAWAY ends.
    static var breaksSharedConnections: KnownDifference {
      .differs("a connection of streams is broken with one of them", with: 0..<0x075800)
    }

    /// libcurl 8.21 keeps the socket of a connection that it has closed over TLS.
    static var keepsClosedConnections: KnownDifference {
      .differs("the socket of a connection that is over stays open", with: 0x081500..<0x081600)
    }

    /// libcurl before 7.88 does not say what a GOAWAY names.
    static var saysNothingOfGoaways: KnownDifference {
      .differs("a stream that a GOAWAY leaves out counts as perhaps read", with: 0..<0x075800)
    }

    /// The test may fail where libcurl hides its TLS library.
    static var hidesTLS: KnownDifference {
      KnownDifference(reason: "nothing tells that the alert is missing", isPresent: !CurlLibrary.showsTLS)
    }
  }
#endif
