#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// A server that sends a 408 and closes an idle connection just as a request is sent.
  @Suite(.keepsConnections, .balancedEvents, .timeLimit(.minutes(1)))
  struct IdleTimeoutAnswerTests {
    /// Returns a peer that answers the first request on its first connection and then sends `second`. On later
    /// connections it answers all requests.
    private func peer(saying second: String, requests: Shared<[String]>) throws -> WirePeer {
      try WirePeer { connection, number in
        var isFirst = true
        while let request = connection.readRequest() {
          requests.withLock { $0.append(request.components(separatedBy: "\r\n\r\n").last ?? "") }
          if number == 0, !isFirst {
            connection.say(second)
            return connection.waitForEnd()
          }
          connection.answer("ok \(number)")
          isFirst = false
        }
      }
    }

    private static let close = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate"

    // RFC 9110 §15.5.9 allows resending, but the server may have read the request before it gave up.
    @Test(arguments: [
      close,
      "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nCONNECTION: Keep-Alive, Close\r\n\r\n",
    ])
    func `after a 408 on a reused connection, retries only requests that can be repeated`(answer: String) async throws {
      for (method, count) in [(HTTPMethod.get, 3), (.put, 3), (.post, 2)] {
        let requests = Shared<[String]>([])
        let peer = try peer(saying: answer, requests: requests)
        let server = Server(.none, transport: try CurlTransport(), environment: [:])
        try await URLTask(peer.url()).on(server).run()
        let body = method == .get ? HTTPBody.empty : .text("x")
        let task = URLTask(peer.url(), method: method, body: body).on(server).retry(.fixed(retries: 1, delay: .zero))
        var status: HTTPStatus?
        do { try await task.run() } catch let error as TaskError { status = error.status }
        #expect(status == (method == .post ? 408 : nil) && requests.withLock { $0.count } == count, "\(method)")
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
  }
#endif
