#if os(Linux)
  import Errand
  import Testing

  /// Whether connections are reused.
  let keepsConnections = CurlLibrary.hasRequestCallback

  extension Trait where Self == ConditionTrait {
    /// The test needs reused or shared connections.
    static var keepsConnections: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "this libcurl makes a connection for each exchange")
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test needs HTTP/2.
    static var speaksHTTP2: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "this libcurl is not trusted with HTTP/2")
    }
  }

  /// A test that fails with some libcurl versions for a reason listed in the version table of the guide "The
  /// transports".
  struct KnownDifference: TestTrait, SuiteTrait, TestScoping {
    fileprivate let reason: Comment
    fileprivate let isPresent: Bool
    /// Words in the known issues. `nil` matches all.
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
    /// The test may fail with these libcurl versions. `0x080100..<0x080200` is 8.1.
    private static func differs(_ reason: Comment, with versions: Range<UInt32>) -> KnownDifference {
      KnownDifference(reason: reason, isPresent: versions.contains(CurlLibrary.versionNumber))
    }

    /// libcurl 8.12 buffers up to 64 MiB of a stream that is not read.
    static var readsAhead: KnownDifference {
      KnownDifference(
        reason: "a reader who stands still does not make the server wait",
        isPresent: (0x080c00..<0x081000).contains(CurlLibrary.versionNumber), words: "expected that the server waits")
    }

    /// libcurl before 7.80 opens a connection per exchange.
    static var keepsNoConnections: KnownDifference {
      KnownDifference(
        reason: "each exchange has a connection of its own", isPresent: !RealServerTests.keepsConnections,
        words: "expected that the connection was reused")
    }

    /// libcurl 8.1 can't send a header of 60 KiB over HTTP/2.
    static var refusesLargeFields: KnownDifference {
      .differs("a large field cannot be sent over HTTP/2", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 keeps its thread busy during a blocked upload.
    static var staysBusy: KnownDifference {
      .differs("the loop does not sleep beside such a stream", with: 0x080100..<0x080200)
    }

    /// The program `curl` from the same libcurl drops an empty query.
    static var dropsEmptyQueries: KnownDifference {
      KnownDifference(
        reason: "curl leaves an empty query out",
        isPresent: (0x080800..<0x081500).contains(CurlLibrary.versionNumber), words: "a//b?")
    }

    /// libcurl 8.1 resets a stream next to finishing uploads.
    static var resetsStreamsBesideUploads: KnownDifference {
      .differs("a stream beside uploads that end is reset", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 does not report that a stream was refused.
    static var saysNothingOfRefusals: KnownDifference {
      .differs("a stream that was refused counts as perhaps read", with: 0x080100..<0x080200)
    }

    /// libcurl 7.80 breaks a connection if a stream is refused before it is sent or a GOAWAY ends it.
    static var breaksSharedConnections: KnownDifference {
      .differs("a connection of streams is broken with one of them", with: 0..<0x075800)
    }

    /// libcurl 8.21 keeps the socket of a closed TLS connection.
    static var keepsClosedConnections: KnownDifference {
      .differs("the socket of a connection that is over stays open", with: 0x081500..<0x081600)
    }

    /// libcurl before 7.88 does not report the contents of a GOAWAY.
    static var saysNothingOfGoaways: KnownDifference {
      .differs("a stream that a GOAWAY leaves out counts as perhaps read", with: 0..<0x075800)
    }

    /// The test may fail if libcurl hides its TLS library.
    static var hidesTLS: KnownDifference {
      KnownDifference(reason: "nothing tells that the alert is missing", isPresent: !CurlLibrary.showsTLS)
    }
  }
#endif
