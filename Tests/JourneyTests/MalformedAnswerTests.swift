#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Malformed responses are rejected with a reason, or parsed as RFC 9112 requires.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct MalformedAnswerTests {
    private let transport: CurlTransport

    init() throws { transport = try CurlTransport() }

    private func response(_ text: String, _ method: HTTPMethod = .get) async throws -> (HTTPResponse, Data) {
      let peer = try WirePeer.saying(text)
      let response = try await transport.send(HTTPRequest(method, peer.url()))
      return (response, try await response.body.collect())
    }

    private func error(_ text: String, _ method: HTTPMethod = .get) async throws -> TaskError {
      try #require(await #expect(throws: TaskError.self) { try await response(text, method) })
    }

    @Test func `rejects a head that starts with a folded line, even after another response`() async throws {
      let folded = "HTTP/1.1 200 OK\r\n X-A: a\r\nContent-Length: 0\r\n\r\n"
      let peer = try WirePeer { connection, _ in
        while let request = connection.readRequest() {
          connection.say(
            request.contains("/folded") ? folded : "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX-Long: abcdefgh\r\n\r\nx")
        }
      }
      for _ in 0..<50 {
        _ = try await transport.send(HTTPRequest(.get, peer.url("good"))).body.collect()
        let error = await #expect(throws: TaskError.self) {
          try await transport.send(HTTPRequest(.get, peer.url("folded")))
        }
        // libcurl 8.1.2 rejects the head with its own message.
        let isReported = error.map { $0.reason.contains("folded") || $0.reason.contains("invalid line") } ?? false
        #expect(error?.code == .badResponse && isReported, "\(error.map { "\($0)" } ?? "")")
      }
    }

    @Test func `joins a folded line with the previous field`() async throws {
      let (response, _) = try await response(
        "HTTP/1.1 200 OK\r\nX-A: a\r\n Set-Cookie: session=evil\r\n\tb \r\nContent-Length: 0\r\n\r\n")
      #expect(response.headers["Set-Cookie"] == nil)
      #expect(response.headers["X-A"] == "a Set-Cookie: session=evil b")
    }

    @Test(
      arguments: ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", "HTTP/1.1 200"],
      [HTTPMethod.get, .post])
    func `a truncated head throws instead of returning a response`(text: String, method: HTTPMethod) async throws {
      let error = try await error(text, method)
      #expect(error.code == .connectionLost && error.phase == .awaitingResponse, "\(error)")
    }

    @Test func `a response with a truncated head keeps the existing file`() async throws {
      try await withFolder { folder in
        let file = folder.appendingPathComponent("good")
        try Data("good".utf8).write(to: file)
        let peer = try WirePeer.saying("HTTP/1.1 200 OK\r\n")
        await #expect(throws: TaskError.self) {
          try await URLTask(peer.url()).on(Server(Remote(peer.url()))).retry(.never).download(to: file)
        }
        #expect(try Data(contentsOf: file) == Data("good".utf8))
      }
    }

    @Test(arguments: [
      "X-A : a", "X A: a", ": a", "no colon", "X-A: a\rb", "X-\0A: a", "X\u{e4}: a",
    ])
    func `rejects an invalid header line`(line: String) async throws {
      let error = try await error("HTTP/1.1 200 OK\r\nServer: x\r\n\(line)\r\nContent-Length: 0\r\n\r\n")
      #expect(error.code == .badResponse && !error.isRetryable, "\(error)")
    }

    @Test(arguments: [
      "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6", "Content-Length: +5", "Content-Length: 5abc",
      "Content-Length: 0x5", "Content-Length: -5", "Content-Length: ", "Content-Length: 9223372036854775808",
      "Content-Length: 5\r\n 0", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding : chunked", "Transfer-Encoding: xchunked",
    ])
    func `rejects contradictory body framing`(fields: String) async throws {
      let error = try await error("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
      #expect(error.code == .badResponse && !error.isRetryable, "\(error)")
      let name = fields.hasPrefix("Content") ? "Content-Length" : "Transfer-Encoding"
      #expect(error.reason.contains(name) || error.reason.contains("folded"), "\(error)")
    }

    /// Newer libcurl versions join folded lines before they report them.
    @Test func `rejects a folded Transfer-Encoding or parses the header as one line`() async throws {
      do {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        #expect(try await response(text).1 == Data("hello".utf8))
      } catch let error as TaskError {
        #expect(error.code == .badResponse && error.reason.contains("Transfer-Encoding"), "\(error)")
      }
    }

    @Test(arguments: ["Content-Length: 5\r\nContent-Length: 5", "content-length:5 ,5", "CONTENT-LENGTH:\t5\t"])
    func `accepts a repeated identical Content-Length`(fields: String) async throws {
      #expect(try await response("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello").1 == Data("hello".utf8))
    }

    @Test func `chunked framing overrides a Content-Length and prevents reuse of the connection`() async throws {
      let peer = try WirePeer { connection, index in
        while connection.readRequest() != nil {
          connection.say(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\n\(index)\r\n0\r\n\r\n")
        }
      }
      for index in 0..<3 {
        let response = try await transport.send(HTTPRequest(.get, peer.url()))
        #expect(try await response.body.collect() == Data("\(index)".utf8))
      }
    }

    @Test(arguments: [
      "http/1.1 200 OK", "HTTP/2.0 200 OK", "HTTP/2 200", "HTTP/-1.1 200 OK", "HTTP/1.1 099 Low", "HTTP/1.1 99",
      "HTTP/1.1  200 OK", "HTTP/1.1 2000 OK", "HTTP 200 OK", "HTTP/3 200", "HTTP/1.x 200 OK", "ICY 200 OK", "hello",
      "HTTP/1.1 101 Switching Protocols",
    ])
    func `rejects an invalid HTTP/1 status line`(line: String) async throws {
      let error = try await error("\(line)\r\nContent-Length: 0\r\n\r\n")
      #expect(error.code == .badResponse && !error.isRetryable && error.reason.count < 200, "\(error)")
    }

    @Test(arguments: ["X-A: a\r\n Set-Cookie: session=evil", "\tX-A: a", "X A: a", "X-A : a", ": a", "X\rY: z", "X"])
    func `rejects an invalid trailer`(lines: String) async throws {
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
      let error = try await error("\(head)\(lines)\r\n\r\n")
      #expect(error.code == .badResponse && error.reason.contains("trailer"), "\(error)")
      let (response, body) = try await response("\(head)X-A: a\r\nX-B:\r\n\r\n")
      #expect(body == Data("ok".utf8) && response.body.trailers.map(\.value) == ["a", ""])
    }

    @Test func `accepts interim responses of up to 256 KiB in total`() async throws {
      let early = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", count: 100)
      #expect(try await response("\(early)HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").1 == Data("ok".utf8))
      let endless = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        while connection.say(early) {}
      }
      let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, endless.url())) }
      #expect(
        error?.code == .badResponse && error?.reason.contains("256 KiB") ?? false, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `rejects an endless head`() async throws {
      for line in ["X-\(String(repeating: "a", count: 50)): b\r\n", String(repeating: "a", count: 4096)] {
        let endless = try WirePeer { connection, _ in
          guard connection.readRequest() != nil else { return }
          connection.say("HTTP/1.1 200 OK\r\n")
          while connection.say(line) {}
        }
        let error = await #expect(throws: TaskError.self) {
          try await transport.send(HTTPRequest(.get, endless.url()))
        }
        #expect(error?.code == .badResponse && error?.isRetryable == false, "\(error.map { "\($0)" } ?? "")")
      }
    }

    @Test func `rejects a malformed chunk without a retry`() async throws {
      let error = try await error("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n")
      #expect(error.code == .badResponse && !error.isRetryable, "\(error)")
    }
  }
#endif
