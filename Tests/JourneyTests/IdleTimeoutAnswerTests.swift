#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// A server that sends a 408 and closes an idle connection just as a request is sent.
  @Suite(.keepsConnections, .balancedEvents, .timeLimit(.minutes(1)))
  struct IdleTimeoutAnswerTests {
    /// Returns a peer that, on each of its first `count` connections, answers the first request and then sends
    /// `second`. On later connections it answers all requests.
    private func peer(saying second: String, times count: Int = 1, requests: Shared<[String]>) throws -> WirePeer {
      try WirePeer { connection, number in
        var isFirst = true
        while let request = connection.readRequest() {
          requests.withLock { $0.append(request.components(separatedBy: "\r\n\r\n").last ?? "") }
          if number < count, !isFirst || number > 0 {
            connection.say(second)
            return connection.waitForEnd()
          }
          connection.answer("ok \(number)")
          isFirst = false
        }
      }
    }

    private static let close = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate"

    @Test(arguments: [
      close, "HTTP/1.0 408 Request Time-out\r\nCache-Control: no-cache\r\n\r\n",
      "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nCONNECTION: Keep-Alive, Close\r\n\r\n",
    ])
    func `resends any request after a 408 that closes a reused connection`(answer: String) async throws {
      for body in [nil, HTTPBody.text("x"), .bytes(Data(repeating: 65, count: 300_000))] {
        let requests = Shared<[String]>([])
        let peer = try peer(saying: answer, requests: requests)
        let server = Server(.none, transport: try CurlTransport(), environment: [:])
        try await URLTask(peer.url()).on(server).run()
        let task = body.map { URLTask(peer.url(), method: .post, body: $0) } ?? URLTask(peer.url())
        let response = try await task.on(server).retry(.never).response()
        #expect(response.payload == Data("ok 1".utf8) && response.attempts.map(\.wasResent) == [true])
        let expected = body.map { String(decoding: $0.data ?? Data(), as: UTF8.self) } ?? ""
        #expect(requests.withLock { $0.last } == expected)
        #expect(requests.withLock { $0.count } == 3)
      }
    }

    @Test func `returns a 408 that keeps the connection open`() async throws {
      let requests = Shared<[String]>([])
      let peer = try peer(saying: "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", requests: requests)
      let server = Server(.none, transport: try CurlTransport(), environment: [:])
      try await URLTask(peer.url()).on(server).run()
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(peer.url(), method: .post, body: .text("x")).on(server).run()
      }
      #expect(error?.status == 408 && requests.withLock { $0.count } == 2)
    }

    @Test func `returns a 408 on a new connection`() async throws {
      let requests = Shared<[String]>([])
      let peer = try peer(saying: Self.close, times: 3, requests: requests)
      let server = Server(.none, transport: try CurlTransport(), environment: [:])
      try await URLTask(peer.url()).on(server).run()
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(peer.url(), method: .post, body: .text("x")).on(server).run()
      }
      #expect(error?.status == 408 && error?.bodyText == "late" && requests.withLock { $0.count } == 3)
    }

    @Test func `returns a 408 if the request body can be read only once`() async throws {
      let requests = Shared<[String]>([])
      let peer = try peer(saying: Self.close, requests: requests)
      let server = Server(.none, transport: try CurlTransport(), environment: [:])
      try await URLTask(peer.url()).on(server).run()
      let body = HTTPBody.once(
        AsyncStream {
          $0.yield(Data("x".utf8))
          $0.finish()
        }, length: 1)
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(peer.url(), method: .post, body: body).on(server).run()
      }
      #expect(error?.status == 408 && requests.withLock { $0.count } == 2)
    }
  }
#endif
