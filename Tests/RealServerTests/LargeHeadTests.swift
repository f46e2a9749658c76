#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HTTP/2 heads and trailers that are larger than libcurl accepts.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct LargeHeadTests {
    private let peer: HTTP2Peer

    init() async throws { peer = try await HTTP2Peer() }

    private func send(_ path: String, over transport: CurlTransport) async throws -> Data {
      var request = HTTPRequest(.get, peer.url.appendingPathComponent(path))
      request.options.timeouts = Timeouts(attempt: .seconds(10))
      request.options.mayRepeat = true
      return try await transport.send(request).body.collect()
    }

    @Test(arguments: ["bighead/30/10000", "bighead/3000/100", "bigtrailer/30/10000"], [false, true])
    func `a head or trailer that is too large throws .badResponse and is not resent`(
      path: String, isReused: Bool
    ) async throws {
      let transport = try peer.transport()
      if isReused { _ = try await send("hello", over: transport) }
      let error = try #require(
        await #expect(throws: TaskError.self) { try await send(path, over: transport) })
      #expect(error.code == .badResponse && !error.isRetryable && !error.wasNotSent, "\(error)")
      let part = path.hasPrefix("bighead") ? "head is larger than" : "trailer"
      #expect(error.reason.contains(part) && error.reason.contains("larger than"), "\(error)")
      #expect(try await peer.seen().count { $0.contains(path) } == 1)
    }

    /// Newer libcurl versions accept heads of up to 300 KiB.
    private static let tooLarge =
      ["bighead/30/10000", "bigtrailer/30/10000"] + (CurlLibrary.versionNumber < 0x080100 ? ["bighead/16/10000"] : [])

    @Test(arguments: tooLarge)
    func `other streams fail immediately if a head that is too large ends their connection`(path: String) async throws {
      let transport = try peer.transport()
      let other = Task { try await send("hold/", over: transport) }
      #expect(try await eventually { try await peer.seen().contains { $0.contains("/hold") } })
      let error = await #expect(throws: TaskError.self) { try await send(path, over: transport) }
      #expect(error?.code != .timedOut, "\(error as Any)")
      _ = try? await transport.send(HTTPRequest(.get, peer.url.appendingPathComponent("hello"))).body.collect()
      // Newer libcurl versions end only that stream.
      if CurlLibrary.versionNumber < 0x080100 {
        let error = await #expect(throws: TaskError.self) { try await other.value }
        #expect(error?.code == .connectionLost && error?.isRetryable == true, "\(error as Any)")
      }
      other.cancel()
    }
  }
#endif
