import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Multipart bodies (RFC 2046 §5.1).
@Suite(.timeLimit(.minutes(1))) struct MultipartParserTests {
  struct Part: Equatable {
    var headers: HTTPHeaders = [:]
    var body = ""
  }

  private static func parts(
    _ pieces: [Data], boundary: String = "b", limits: MultipartLimits = MultipartLimits()
  ) throws -> (parts: [Part], isComplete: Bool) {
    var parser = MultipartParser(boundary: boundary, limits: limits)
    var (parts, isOpen, hasEnded) = ([Part](), false, false)
    for piece in pieces + [nil] {
      if let piece { parser.append(piece) } else { parser.finish() }
      while let event = try parser.next() {
        switch event {
        case .part(let headers):
          #expect(!isOpen && !hasEnded)
          parts.append(Part(headers: headers))
          isOpen = true
        case .data(let data):
          #expect(isOpen && !data.isEmpty)
          parts[parts.count - 1].body += String(decoding: data, as: UTF8.self)
        case .endOfPart: isOpen = false
        case .end: hasEnded = true
        }
      }
    }
    return (parts, parser.isComplete)
  }

  private static let bodies: [(String, [Part])] = [
    // A longer line that starts with a delimiter is not a delimiter.
    ("--b\r\n\r\na\r\n--b--c\r\nd\r\n--b-- \t\r\ne", [Part(body: "a\r\n--b--c\r\nd")]),
    ("--b\r\n\r\na\r\n--b--\t", [Part(body: "a")]), ("--b\r\n\r\na\r\n--b--\r", [Part(body: "a")]),
    ("--b\r\n\r\none\r\n--b--\r\n", [Part(body: "one")]),
    (
      "preamble\r\n--b\r\nA: 1\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\nepilogue\r\n--b\r\n",
      [Part(headers: ["A": "1"], body: "one"), Part(body: "two")]
    ),
    ("--b\r\n\r\n\r\n--b\r\n\r\n--b--", [Part(), Part()]),  // a part can be empty, with or without its line break
    (
      "--b \t\r\n\r\n--bb\r\n--b-\r\n --b\r\nx--b\r\n-b--b--\r\n--b--",
      [Part(body: "--bb\r\n--b-\r\n --b\r\nx--b\r\n-b--b--")]
    ),
    ("--b\r\n\r\na\r\n\r\n--b--", [Part(body: "a\r\n")]), ("--b\r\n\r\na\r\r\n--b--", [Part(body: "a\r")]),
    ("--b\n\na\nb\n--b\n\nc\n--b--\n", [Part(body: "a\nb"), Part(body: "c")]),  // LF alone, as some clients write it
    (
      "--b\r\nA: 1\r\n  folded\r\nB:\r\nA: 2\r\n\r\nx\r\n--b--",
      [Part(headers: HTTPHeaders([.init("A", "1 folded"), .init("B", ""), .init("A", "2")]), body: "x")]
    ),
    ("--b--", []), ("\r\n \r\n--b--\r\n", []), ("--b\r\n\r\n\r\r\r\n\n\r\n--b--", [Part(body: "\r\r\r\n\n")]),
  ]

  @Test(arguments: bodies) func `splits a body at its delimiters, regardless of how it is chunked`(
    body: (text: String, parts: [Part])
  ) throws {
    let bytes = Data(body.text.utf8)
    let whole = try Self.parts([bytes])
    #expect(whole.parts == body.parts && whole.isComplete)
    #expect(try Self.parts(bytes.map { Data([$0]) }).parts == body.parts)
    for cut in 0..<bytes.count {
      #expect(try Self.parts([bytes.prefix(cut), bytes.dropFirst(cut)]).parts == body.parts, "split at \(cut)")
    }
  }

  @Test func `allows up to 256 bytes of whitespace after a delimiter`() throws {
    func body(padding: Int) -> Data {
      Data("--b\(String(repeating: " ", count: padding))\r\n\r\none\r\n--b--".utf8)
    }
    #expect(try Self.parts([body(padding: 256)]).parts == [Part(body: "one")])
    #expect(throws: TaskError.self) { try Self.parts([body(padding: 257)]) }
  }

  @Test func `a truncated body is incomplete, regardless of where it ends`() throws {
    let bytes = Data("--b\r\nA: 1\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--".utf8)
    for cut in 0..<bytes.count { #expect(try !Self.parts([bytes.prefix(cut)]).isComplete) }
  }

  @Test(arguments: ["no colon", " folded first", "a b: c", ": empty", "\u{1}: x", "a: b\rc", "a: b\r", "a: \0"])
  func `rejects an invalid header line`(line: String) {
    #expect(throws: TaskError.self) { try Self.parts([Data("--b\r\n\(line)\r\n\r\nx\r\n--b--".utf8)]) }
  }

  @Test func `rejects a text body that contains no parts`() {
    #expect(throws: TaskError.self) { try Self.parts([Data("text only\r\n--b--\r\n".utf8)]) }
    #expect(throws: TaskError.self) { try Self.parts([Data("--c\r\n\r\none\r\n--b--\r\n".utf8)]) }
  }

  @Test func `rejects a long body without a delimiter`() throws {
    let text = "a\r\n\r\n--b\r\n\r\nx\r\n--b--"
    for pieces in [[Data(text.utf8)], Data(text.utf8).map { Data([$0]) }] {
      #expect(try Self.parts(pieces, limits: MultipartLimits(headerSize: 3)).parts.count == 1)
      let error = #expect(throws: TaskError.self) { try Self.parts(pieces, limits: MultipartLimits(headerSize: 2)) }
      #expect(error?.reason.contains("'--b'") == true)
    }
    var parser = MultipartParser(boundary: "b", limits: MultipartLimits())
    let error = #expect(throws: TaskError.self) {
      for _ in 0..<20 {
        parser.append(Data(repeating: 65, count: 1024))
        _ = try parser.next()
      }
    }
    #expect(error?.code == .badResponse)
  }

  @Test func `decodes a non-UTF-8 header as Latin-1`() throws {
    let bytes = Data("--b\r\nA: caf".utf8) + Data([0xE9]) + Data("\r\nB: é\r\n\r\n\r\n--b--".utf8)
    #expect(try Self.parts([bytes]).parts == [Part(headers: ["A": "café", "B": "é"])])
  }

  @Test func `a colon ends a field name even if a combining character follows`() throws {
    let parts = try Self.parts([Data("--b\r\nA:\u{301}1\r\n\r\n\r\n--b--".utf8)]).parts
    #expect(parts == [Part(headers: ["A": "\u{301}1"])])
  }

  @Test func `rejects too many parts and headers that are too large`() throws {
    let parts = String(repeating: "--b\r\n\r\nx\r\n", count: 3) + "--b--"
    #expect(try Self.parts([Data(parts.utf8)], limits: MultipartLimits(parts: 3)).parts.count == 3)
    #expect(throws: TaskError.self) { try Self.parts([Data(parts.utf8)], limits: MultipartLimits(parts: 2)) }
    let header = "--b\r\nA: \(String(repeating: "a", count: 50))\r\n\r\nx\r\n--b--"
    #expect(try Self.parts([Data(header.utf8)], limits: MultipartLimits(headerSize: 60)).parts.count == 1)
    #expect(throws: TaskError.self) { try Self.parts([Data(header.utf8)], limits: MultipartLimits(headerSize: 50)) }
    #expect(throws: TaskError.self) {
      try Self.parts([Data(header.utf8.prefix(58))], limits: MultipartLimits(headerSize: 50))
    }
  }

  @Test func `limits the body of each part separately`() throws {
    let bytes = Data("preamble\r\n--b\r\n\r\n12345\r\n--b\r\n\r\n\r\n1\r\n\r\n--b--".utf8)
    let bytewise = bytes.map { Data([$0]) }
    for pieces in [[bytes], bytewise] {
      #expect(try Self.parts(pieces, limits: MultipartLimits(bodySize: 5)).parts.count == 2)
      let error = #expect(throws: TaskError.self) { try Self.parts(pieces, limits: MultipartLimits(bodySize: 4)) }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("part 1") == true)
    }
    let empty = Data("--b\r\n\r\n\r\n--b--".utf8)
    #expect(try Self.parts([empty], limits: MultipartLimits(bodySize: 0)).parts.count == 1)
    #expect(throws: TaskError.self) { try Self.parts(bytewise, limits: MultipartLimits(bodySize: .min)) }
  }

  @Test func `preserves every byte value`() throws {
    let all = Data((0...255).map { UInt8($0) } + [13, 10, 45, 45, 13, 10, 45, 45, 97])
    var parser = MultipartParser(boundary: "b", limits: MultipartLimits())
    parser.append(Data("--b\r\n\r\n".utf8) + all + Data("\r\n--b--".utf8))
    parser.finish()
    var body = Data()
    while let event = try parser.next() { if case .data(let data) = event { body += data } }
    #expect(body == all && parser.isComplete)
  }
}
