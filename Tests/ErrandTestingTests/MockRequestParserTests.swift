import Errand
import Foundation
import Testing

@testable import ErrandTesting

@Suite(.timeLimit(.minutes(1))) struct MockRequestParserTests {
  private static let several = """
    POST /a?b=c HTTP/1.1\r\nHost: mock\r\nContent-Length: 5\r\n\r\nhello\
    PUT /chunks HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
    5;name=value\r\nfirst\r\nB\r\n and \r\nlast\r\n0\r\nTrailer: 1\r\n\r\n\
    GET / HTTP/1.0\r\n\r\n
    """

  @Test(arguments: [1, 2, 3, 7, 64, 10_000])
  func `parses the same requests, regardless of how their bytes are split`(size: Int) {
    let read = Self.read(Self.several, inPiecesOf: size)
    #expect(read.map(\.head.method) == [.post, .put, .get])
    #expect(read.map(\.head.target) == ["/a?b=c", "/chunks", "/"])
    #expect(read.map(\.body) == ["hello", "first and \r\nlast", ""])
    #expect(read.map(\.isComplete) == [true, true, true])
    #expect(read.map(\.head.closes) == [false, false, true])
  }

  @Test func `header fields keep their order, case and duplicates`() {
    let read = Self.read("GET / HTTP/1.1\r\nb: 1\r\nAccept:2\r\nB:  3 \t\r\nEmpty:\r\n\r\n")
    #expect(read.first?.head.headers.map { "\($0.name)=\($0.value)" } == ["b=1", "Accept=2", "B=3", "Empty="])
  }

  @Test func `skips empty lines before a request`() {
    #expect(Self.read("\r\n\r\nGET /x HTTP/1.1\r\n\r\n").map(\.head.target) == ["/x"])
  }

  @Test func `a partial body is incomplete`() {
    let read = Self.read("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
    #expect(read.map(\.body) == ["hel"])
    #expect(read.map(\.isComplete) == [false])
  }

  @Test(arguments: [
    "hello\r\n\r\n",
    "GET /\r\n\r\n",
    "GET  / HTTP/1.1\r\n\r\n",
    "GET / HTTP/2\r\n\r\n",
    "G(T / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nno colon\r\n\r\n",
    "GET / HTTP/1.1\r\nname : value\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
  ])
  func `rejects malformed requests`(text: String) {
    var parser = MockRequestParser()
    parser.append(Array(text.utf8))
    #expect(Self.isMalformed(&parser))
    parser.append(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    #expect(Self.isMalformed(&parser), "a malformed request also invalidates everything after it")
  }

  @Test func `rejects an endless head`() {
    var parser = MockRequestParser()
    parser.append(Array("GET / HTTP/1.1\r\n".utf8))
    #expect(parser.next() == .incomplete)
    parser.append([UInt8](repeating: 0x61, count: MockRequestParser.headLimit))
    #expect(Self.isMalformed(&parser))
  }

  private struct Read {
    var head: MockRequestHead
    var body = ""
    var isComplete = false
  }

  private static func read(_ text: String, inPiecesOf size: Int = .max) -> [Read] {
    var parser = MockRequestParser()
    var rest = Array(text.utf8)[...]
    var read: [Read] = []
    while !rest.isEmpty {
      parser.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      event: while true {
        switch parser.next() {
        case .head(let head): read.append(Read(head: head))
        case .body(let data): read[read.count - 1].body += String(decoding: data, as: UTF8.self)
        case .end: read[read.count - 1].isComplete = true
        case .incomplete: break event
        case .malformed(let reason):
          Issue.record("\(reason)")
          return read
        }
      }
    }
    return read
  }

  private static func isMalformed(_ parser: inout MockRequestParser) -> Bool {
    while true {
      switch parser.next() {
      case .malformed: return true
      case .incomplete, .end: return false
      case .head, .body: continue
      }
    }
  }
}
