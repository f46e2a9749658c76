#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Servers that answer before they have read the request, and servers that think after it.
  @Suite(.timeLimit(.minutes(1)))
  struct EarlyAnswerTests {
    private let transport: CurlTransport

    init() throws { transport = try CurlTransport() }

    private func request(_ url: URL, _ body: HTTPBody, _ timeouts: Timeouts = Timeouts(attempt: .seconds(15)))
      -> HTTPRequest
    {
      var request = HTTPRequest(.put, url, body: body)
      request.options.timeouts = timeouts
      return request
    }

    private static func endless() -> HTTPBody {
      .stream { AsyncStream { Data(count: 64 << 10) } }
    }

    @Test(arguments: [
      "Content-Length: 2\r\n\r\nok", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ])
    func `a complete answer ends the exchange, though the server reads no more`(rest: String) async throws {
      let peer = try WirePeer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.say("HTTP/1.1 200 OK\r\n\(rest)")
        connection.waitForHangUp()
      }
      for body in [HTTPBody.bytes(Data(count: 32 << 20)), Self.endless()] {
        let response = try await transport.send(request(peer.url(), body))
        #expect(try await response.body.collect() == Data("ok".utf8))
      }
      #expect(await eventually { await transport.connections().isEmpty }, "the rest was never sent")
    }

    @Test func `an answer without a body ends the exchange too`() async throws {
      let peer = try WirePeer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.say("HTTP/1.1 204 No Content\r\n\r\n")
        connection.waitForHangUp()
      }
      #expect(try await transport.send(request(peer.url(), Self.endless())).status == 204)
    }

    @Test func `a server that speaks first is heard`() async throws {
      let peer = try WirePeer { connection, _ in
        connection.answer("first")
        connection.waitForEnd()
      }
      let response = try await transport.send(request(peer.url(), .bytes(Data(count: 8 << 20))))
      #expect(try await response.body.collect() == Data("first".utf8))
    }

    @Test func `a server that thinks after a body of known length has the time of firstByte`() async throws {
      let peer = try WirePeer { connection, _ in
        _ = connection.readRequest()
        connection.waitForEnd()
      }
      let limits = Timeouts(firstByte: .milliseconds(600), idle: .milliseconds(100))
      let error = await #expect(throws: TaskError.self) {
        try await transport.send(request(peer.url(), .bytes(Data(count: 1000)), limits))
      }
      #expect(error?.timer == .firstByte && error?.phase == .awaitingResponse, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `a 417 has the request go out without its expectation`() async throws {
      let peer = try WirePeer { connection, _ in
        while let head = connection.readHead() {
          if head.contains("100-continue") {
            connection.say("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
          } else {
            connection.answer(connection.read(3) ?? "")
          }
        }
      }
      for _ in 0..<3 {
        var request = request(peer.url(), .bytes(Data("abc".utf8)))
        request.options.continueTimeout = .seconds(10)
        let response = try await transport.send(request)
        #expect(response.status == 200)
        #expect(try await response.body.collect() == Data("abc".utf8))
      }
    }

    @Test func `a 417 that closes the connection is the answer`() async throws {
      let closing = try WirePeer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.say("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
      }
      var request = request(closing.url(), .bytes(Data("abc".utf8)))
      request.options.continueTimeout = .seconds(10)
      #expect(try await transport.send(request).status == 417)
    }
  }
#endif
