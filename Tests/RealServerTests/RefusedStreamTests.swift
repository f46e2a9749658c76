#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HTTP/2 stream errors, and whether each one means that the server did not process the request.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct RefusedStreamTests {
    private let peer: HTTP2Peer

    init() async throws { peer = try await HTTP2Peer() }

    private func request(_ path: String, mayRepeat: Bool = false) -> HTTPRequest {
      var request = HTTPRequest(.post, peer.url.appendingPathComponent(path), body: .text("x"))
      request.options.mayRepeat = mayRepeat
      return request
    }

    /// Returns the error of a request on a new connection or a reused one.
    private func error(_ path: String, isReused: Bool, mayRepeat: Bool = false) async throws -> TaskError {
      let transport = try peer.transport()
      if isReused { _ = try await transport.send(request("hello")).body.collect() }
      let request = request(path, mayRepeat: mayRepeat)
      return try #require(
        await #expect(throws: TaskError.self) { try await transport.send(request).body.collect() })
    }

    @Test(
      .saysNothingOfGoaways, .saysNothingOfRefusals,
      arguments: ["reset/REFUSED_STREAM", "goaway/0", "goaway/0/close"], [(false, false), (true, false), (true, true)])
    func `resends a refused request once and marks a second refusal as not sent`(
      path: String, isReusedMayRepeat: (Bool, Bool)
    ) async throws {
      let (isReused, mayRepeat) = isReusedMayRepeat
      let error = try await error(path, isReused: isReused, mayRepeat: mayRepeat)
      #expect(error.wasNotSent && error.isRetryable && error.code == .connectionLost, "\(error)")
      #expect(error.reason.contains("the server refused the stream"), "\(error)")
      #expect(try await peer.seen().count { $0.contains(path) } == 2)
    }

    @Test(
      .saysNothingOfGoaways, .saysNothingOfRefusals,
      arguments: ["once/reset/REFUSED_STREAM", "once/goaway/0", "once/goaway/0/close"],
      ["bytes", "stream", "large", "none"])
    func `resends a refused request within its attempt`(path: String, body: String) async throws {
      let server = Server(.none, transport: try peer.transport())
      _ = try await URLTask(peer.url.appendingPathComponent("hello")).on(server).download()
      let url = peer.url.appendingPathComponent(path)
      let task =
        switch body {
        case "none": URLTask(url)
        case "bytes": URLTask(url, body: .text("x"))
        case "large": URLTask(url, body: .bytes(Data(count: 200_000)))
        default:
          URLTask(
            url,
            body: .stream {
              AsyncStream {
                $0.yield(Data("x".utf8)); $0.finish()
              }
            })
        }
      let response = try await task.on(server).retry(.never).response()
      #expect(response.payload == Data("hello".utf8))
      #expect(response.attempts.map(\.wasResent) == [true])
      #expect(try await peer.seen().count { $0.contains(path) } == 2)
    }

    @Test(.saysNothingOfGoaways, .saysNothingOfRefusals, arguments: ["reset/REFUSED_STREAM", "goaway/0/close"])
    func `does not resend a refused request with a one-shot body`(path: String) async throws {
      let transport = try peer.transport()
      let body = HTTPBody.once(
        AsyncStream {
          $0.yield(Data("x".utf8)); $0.finish()
        })
      let request = HTTPRequest(.post, peer.url.appendingPathComponent(path), body: body)
      let error = await #expect(throws: TaskError.self) { try await transport.send(request).body.collect() }
      #expect(error?.wasNotSent == true && error?.code == .connectionLost, "\(error as Any)")
      #expect(try await peer.seen().count { $0.contains(path) } == 1)
    }

    @Test(
      arguments: [
        "goaway/this/close", "reset/INTERNAL_ERROR", "reset/CANCEL", "both/INTERNAL_ERROR", "die",
        "partly/INTERNAL_ERROR",
      ], [false, true])
    func `does not resend a request whose stream ends in any other way`(path: String, isReused: Bool)
      async throws
    {
      let error = try await error(path, isReused: isReused)
      #expect(!error.wasNotSent && error.isRetryable, "\(error)")
      // libcurl does not deliver a head that arrives together with the end of its stream.
      #expect(error.code == .connectionLost || (path.hasPrefix("partly") && error.code == .truncatedBody), "\(error)")
      #expect(try await peer.seen().count { $0.contains(path) } == 1)
    }

    @Test(.saysNothingOfGoaways)
    func `after a GOAWAY, resends unprocessed requests and fails processed ones`() async throws {
      let transport = try peer.transport()
      _ = try await transport.send(request("hello")).body.collect()
      let read = Task { try await transport.send(request("hold/")) }
      let line = try await line(of: "/hold")
      let last = try #require(line.split(separator: " ").last)
      let unread = Task { try await transport.send(request("once/hold/unread")).body.collect() }
      #expect(try await eventually { try await peer.seen().contains { $0.contains("/once/hold") } })
      let messenger = try await transport.send(request("once/goaway/\(last)/close")).body.collect()
      let error = await #expect(throws: TaskError.self) { try await read.value }
      #expect(error?.wasNotSent == false, "\(error as Any)")
      #expect(try await [unread.value, messenger] == [Data("hello".utf8), Data("hello".utf8)])
      let seen = try await peer.seen()
      #expect(
        [" /hold", " /once/hold", " /once/goaway"].map { path in seen.count { $0.contains(path) } } == [1, 2, 2])
    }

    @Test(.saysNothingOfGoaways)
    func `sends no further requests on a connection after a GOAWAY`() async throws {
      let transport = try peer.transport()
      let held = [
        Task { try await transport.send(request("hold/")) },
        Task { try await transport.send(request("goaway/2147483647")) },
      ]
      #expect(try await eventually { try await peer.seen().count >= 2 })
      for number in 0..<10 {
        #expect(try await transport.send(request("hello/\(number)")).body.collect() == Data("hello".utf8))
      }
      #expect(try await peer.seen().count { $0.contains("/hello") } == 10)
      for call in held { call.cancel() }
    }

    private func line(of path: String) async throws -> String {
      _ = try await eventually { try await peer.seen().contains { $0.contains(path) } }
      return try #require(try await peer.seen().first { $0.contains(path) })
    }

    @Test func `a call does not retry requests that may have been processed`() async throws {
      let server = Server(.none, transport: try peer.transport())
      let task = URLTask(peer.url.appendingPathComponent("once/both/INTERNAL_ERROR"), body: .text("x")).on(server)
      await #expect(throws: TaskError.self) { try await task.retry(upTo: 2, after: .zero).download() }
      #expect(try await peer.seen().count == 1)
    }
  }
#endif
