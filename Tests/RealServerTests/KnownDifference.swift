#if os(Linux)
  import Errand
  import Testing

  /// Whether connections are reused.
  let keepsConnections = CurlLibrary.hasRequestCallback

  extension Trait where Self == ConditionTrait {
    /// The test needs reused or shared connections.
    static var keepsConnections: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "this libcurl opens a connection for each exchange")
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test needs HTTP/2.
    static var speaksHTTP2: ConditionTrait {
      .enabled(if: RealServerTests.keepsConnections, "Errand does not use HTTP/2 with this libcurl")
    }
  }

  /// A test that fails with some libcurl versions for a reason listed in the version table of the guide
  /// "Choosing and configuring a transport".
  struct KnownDifference: TestTrait, SuiteTrait, TestScoping {
    fileprivate let reason: Comment
    fileprivate let isPresent: Bool
    /// Words that a known issue contains. `nil` matches every issue.
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
    /// Returns a trait for a test that may fail with these libcurl versions. `0x080100..<0x080200` is 8.1.
    private static func differs(_ reason: Comment, with versions: Range<UInt32>) -> KnownDifference {
      KnownDifference(reason: reason, isPresent: versions.contains(CurlLibrary.versionNumber))
    }

    /// libcurl 8.12 to 8.15 buffers up to 64 MiB of an unread stream.
    static var readsAhead: KnownDifference {
      KnownDifference(
        reason: "a slow reader applies no backpressure to the server",
        isPresent: (0x080c00..<0x081000).contains(CurlLibrary.versionNumber), words: "expected that the server waits")
    }

    /// libcurl before 7.80 opens a connection for each exchange.
    static var keepsNoConnections: KnownDifference {
      KnownDifference(
        reason: "each exchange uses its own connection", isPresent: !RealServerTests.keepsConnections,
        words: "expected that the connection was reused")
    }

    /// libcurl 8.1 can't send a header of 60 KiB over HTTP/2.
    static var refusesLargeFields: KnownDifference {
      .differs("a large header can't be sent over HTTP/2", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 keeps its thread busy during a blocked upload.
    static var staysBusy: KnownDifference {
      .differs("the loop does not sleep while an upload is blocked", with: 0x080100..<0x080200)
    }

    /// The program `curl` from the same libcurl drops an empty query.
    static var dropsEmptyQueries: KnownDifference {
      KnownDifference(
        reason: "curl drops an empty query",
        isPresent: (0x080800..<0x081500).contains(CurlLibrary.versionNumber), words: "a//b?")
    }

    /// libcurl 8.1 resets a stream when concurrent uploads on its connection finish.
    static var resetsStreamsBesideUploads: KnownDifference {
      .differs("a stream is reset when concurrent uploads finish", with: 0x080100..<0x080200)
    }

    /// libcurl 8.1 does not report that a stream was refused.
    static var saysNothingOfRefusals: KnownDifference {
      .differs("a refused stream is reported as possibly processed", with: 0x080100..<0x080200)
    }

    /// libcurl 7.80 breaks a connection if a stream is refused before it is sent or a GOAWAY ends it.
    static var breaksSharedConnections: KnownDifference {
      .differs("one refused stream breaks its connection", with: 0..<0x075800)
    }

    /// libcurl 8.21 keeps the socket of a closed TLS connection.
    static var keepsClosedConnections: KnownDifference {
      .differs("the socket of a closed connection stays open", with: 0x081500..<0x081600)
    }

    /// libcurl before 7.88 does not report the contents of a GOAWAY.
    static var saysNothingOfGoaways: KnownDifference {
      .differs("a stream that a GOAWAY excludes is reported as possibly processed", with: 0..<0x075800)
    }

    /// The test may fail if libcurl hides its TLS library.
    static var hidesTLS: KnownDifference {
      KnownDifference(reason: "the missing close alert can't be detected", isPresent: !CurlLibrary.showsTLS)
    }
  }
#endif
