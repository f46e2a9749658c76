#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Which ends of an HTTP/2 stream say that the server did nothing with it, and which do not.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or a python3 with its package h2, is not installed"),
    .timeLimit(.minutes(10)))
  struct RefusedStreamTests {
    private let peer: HTTP2Peer

    init() async throws { peer = try await HTTP2Peer() }

    private func request(_ path: String, mayRepeat: Bool = false) -> HTTPRequest {
      var request = HTTPRequest(.post, peer.url.appendingPathComponent(path), body: .text("x"))
      request.options.mayRepeat = mayRepeat
      return request
    }

    /// How it fails, on a new connection or on one that has carried another request.
    private func error(_ path: String, isReused: Bool, mayRepeat: Bool = false) async throws -> TaskError {
      let transport = try peer.transport()
      if isReused { _ = try await transport.send(request("hello")).body.collect() }
      let request = request(path, mayRepeat: mayRepeat)
      return try #require(
        await #expect(throws: TaskError.self) { try await transport.send(request).body.collect() })
    }

    @Test(
      .saysNothingOfGoaways, .saysNothingOfRefusals,
      arguments: ["reset/REFUSED_STREAM", "goaway/0", "goaway/0/close", "goaway/1", "goaway/1/close"], [false, true])
    func `a stream that is refused was surely not sent, and is not sent again`(path: String, isReused: Bool)
      async throws
    {
      // On a new connection it is stream 1, after another it is stream 3.
      let path = isReused ? path : path.replacingOccurrences(of: "goaway/1", with: "goaway/0")
      let error = try await error(path, isReused: isReused)
      #expect(error.isSurelyNotSent && error.isRetryable && error.code == .connectionLost, "\(error)")
      #expect(error.reason.contains("the server refused the stream"), "\(error)")
      #expect(try await peer.seen().count { $0.contains(path) } == 1)
    }

    @Test(
      arguments: [
        "goaway/this/close", "reset/INTERNAL_ERROR", "reset/CANCEL", "both/INTERNAL_ERROR", "die",
        "partly/INTERNAL_ERROR",
      ], [false, true])
    func `a stream that ends in any other way was perhaps sent, and is not sent again`(path: String, isReused: Bool)
      async throws
    {
      let error = try await error(path, isReused: isReused)
      #expect(!error.isSurelyNotSent && error.isRetryable, "\(error)")
      // Where the head comes along with the end, libcurl does not hand it over.
      #expect(error.code == .connectionLost || (path.hasPrefix("partly") && error.code == .truncatedBody), "\(error)")
      #expect(try await peer.seen().count { $0.contains(path) } == 1)
    }

    @Test(.saysNothingOfGoaways)
    func `a GOAWAY tells the streams that were read from those that were not`() async throws {
      let transport = try peer.transport()
      _ = try await transport.send(request("hello")).body.collect()
      let read = Task { try await transport.send(request("hold/")) }
      let line = try await line(of: "/hold")
      let last = try #require(line.split(separator: " ").last)
      let unread = Task { try await transport.send(request("hold/")) }
      while try await peer.seen().count(where: { $0.contains("/hold") }) < 2 {}
      let messenger = await #expect(throws: TaskError.self) {
        try await transport.send(request("goaway/\(last)/close"))
      }
      let errors = [
        await #expect(throws: TaskError.self) { try await read.value },
        await #expect(throws: TaskError.self) { try await unread.value }, messenger,
      ]
      #expect(errors.map { $0?.isSurelyNotSent } == [false, true, true], "\(errors)")
    }

    private func line(of path: String) async throws -> String {
      while true {
        if let line = try await peer.seen().first(where: { $0.contains(path) }) { return line }
      }
    }

    @Test(.saysNothingOfRefusals)
    func `an exchange that may be repeated, and is refused both times, was surely not sent`() async throws {
      let error = try await error("reset/REFUSED_STREAM", isReused: false, mayRepeat: true)
      #expect(error.isSurelyNotSent, "\(error)")
      #expect(try await peer.seen().count { $0.contains("/reset") } == 2)
    }

    @Test(
      .saysNothingOfGoaways, .saysNothingOfRefusals,
      arguments: ["once/reset/REFUSED_STREAM", "once/goaway/0", "once/goaway/0/close"])
    func `the pipeline sends a refused POST again`(path: String) async throws {
      let server = Server(remote: .none, transport: try peer.transport())
      let task = URLTask(peer.url.appendingPathComponent(path), body: .text("x")).on(server)
      let answer = try await task.retry(upTo: 2, after: .zero).download()
      #expect(answer == Data("hello".utf8))
      #expect(try await peer.seen().count == 2)
    }

    @Test func `the pipeline does not send again what was perhaps read`() async throws {
      let server = Server(remote: .none, transport: try peer.transport())
      let task = URLTask(peer.url.appendingPathComponent("once/both/INTERNAL_ERROR"), body: .text("x")).on(server)
      await #expect(throws: TaskError.self) { try await task.retry(upTo: 2, after: .zero).download() }
      #expect(try await peer.seen().count == 1)
    }
  }
#endif
