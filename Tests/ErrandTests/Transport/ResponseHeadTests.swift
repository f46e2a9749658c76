#if os(Linux)
  import Errand
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct ResponseHeadTests {
    private func read(_ text: String) -> ResponseHead? { ResponseHead(Array(text.utf8)) }

    @Test func `parses status, version and fields in order`() throws {
      let head = try #require(read("HTTP/1.1 404 Not Found\r\nA: 1\r\nb:2\r\nA:\t 3 \r\n\r\n"))
      #expect(head.status == 404)
      #expect(head.version == .http1_1)
      #expect(head.headers.map { "\($0.name)=\($0.value)" } == ["A=1", "b=2", "A=3"])
    }

    @Test(arguments: [
      ("HTTP/1.0 200", HTTPVersion.http1_0), ("HTTP/2 200 ", .http2), ("HTTP/2.0 200", .http2), ("HTTP/3 200", .http3),
    ])
    func `parses the version with and without a reason phrase`(line: String, version: HTTPVersion) throws {
      #expect(try #require(read("\(line)\r\n\r\n")).version == version)
    }

    @Test(arguments: [
      "", "\r\n\r\n", "hello", "HTTP/1.1", "HTTP/1.1 abc\r\n", "HTTP/1.1 99 Low\r\n", "HTTP/1.1 1000 High\r\n",
      "HTTP/1.1 -200\r\n",
    ])
    func `rejects a head without a status line`(text: String) { #expect(read(text) == nil) }

    @Test func `accepts a bare line feed as a line ending`() throws {
      #expect(try #require(read("HTTP/1.1 200 OK\nA: 1\n\n")).headers["A"] == "1")
    }

    @Test func `skips invalid fields`() throws {
      let head = try #require(read("HTTP/1.1 200 OK\r\nnonsense\r\n: empty\r\nA: b:c\r\nE:\r\n\r\n"))
      #expect(head.headers.map(\.value) == ["b:c", ""])
    }

    @Test func `decodes a non-UTF-8 value as Latin-1`() throws {
      let bytes =
        Array("HTTP/1.1 200 OK\r\nA: caf".utf8) + [0xE9] + Array("\r\nB: café\r\nC: ".utf8)
        + [0xE9] + Array(" at the beginning of many\r\n\r\n".utf8)
      let head = try #require(ResponseHead(bytes))
      #expect(head.headers["A"] == "café")
      #expect(head.headers["B"] == "café")
      #expect(head.headers["C"] == "é at the beginning of many")
    }

    // If the value were sent back as UTF-8, its bytes would be different.
    @Test func `marks a non-UTF-8 tag or cookie because it can't be sent back`() throws {
      let bytes =
        Array("HTTP/1.1 200 OK\r\nETag: \"caf".utf8) + [0xE9] + Array("\"\r\nset-cookie: a=caf".utf8)
        + [0xE9] + Array("; Path=/\r\nSet-Cookie: b=café\r\n\r\n".utf8)
      let head = try #require(ResponseHead(bytes))
      #expect(head.headers[.eTag] == "\"caf\u{FFFD}\"")
      #expect(head.headers.values(for: .setCookie) == ["a=caf\u{FFFD}; Path=/", "b=café"])
    }

    // RFC 9110 §5.5: keep the bytes, as curl does.
    @Test func `escapes the bytes of a URI that is not UTF-8`() throws {
      let bytes =
        Array("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + [0xE9] + Array("/café?a=".utf8) + [0xFF]
        + Array("\r\ncontent-location: ".utf8) + [0xE9] + Array("\r\nLink: </".utf8) + [0xE9]
        + Array(">; title=\"".utf8) + [0xE9] + Array("\"\r\nLOCATION: /café\r\n\r\n".utf8)
      let headers = try #require(ResponseHead(bytes)).headers
      #expect(headers.values(for: .location) == ["/caf%E9/caf%C3%A9?a=%FF", "/café"])
      #expect(headers[.contentLocation] == "%E9" && headers[.link] == "</%E9>; title=\"é\"")
    }
  }
#endif
