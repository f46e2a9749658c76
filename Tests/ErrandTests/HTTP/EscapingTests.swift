import Errand
import ErrandTesting
import Foundation
import Testing

/// Every ASCII character under each escaping rule. Other tests cover the types that use the rules.
@Suite(.timeLimit(.minutes(1))) struct EscapingTests {
  private static let ascii = (0..<128).map { String(Unicode.Scalar($0)) }

  /// Returns all ASCII characters, escaped unless they are in `kept`.
  private func escaped(keeping kept: String) -> [String] {
    Self.ascii.map { text in
      kept.contains(text)
        ? text : text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased() }.joined()
    }
  }

  private static let alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

  // RFC 3986 §2.3: "unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"". §2.1: "For consistency, URI producers and
  // normalizers should use uppercase hexadecimal digits for all percent-encodings."
  @Test func `RFC 3986 §2.3: a query keeps unreserved characters and escapes all others`() {
    let rule = escaped(keeping: Self.alphanumeric + "-._~")
    for (text, expected) in zip(Self.ascii, rule) {
      #expect(HTTPQuery([.init(text, text)]).encoded == "\(expected)=\(expected)")
    }
  }

  @Test func `RFC 3986 §2.3: a path segment keeps unreserved characters and escapes all others`() {
    let rule = escaped(keeping: Self.alphanumeric + "-._~")
    for (text, expected) in zip(Self.ascii, rule) where text != "." { #expect("\(segment: text)" == expected) }
  }

  // RFC 3986 §3.3: "pchar = unreserved / pct-encoded / sub-delims / ":" / "@"", and §2.2: "sub-delims = "!" / "$" / "&"
  // / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="".
  @Test func `RFC 3986 §3.3: a path given as text keeps every character that a path allows`() async throws {
    let rule = escaped(keeping: Self.alphanumeric + "-._~!$&'()*+,;=:@/?")
    for (text, expected) in zip(Self.ascii, rule) {
      let stub = StubServer(.status(.ok))
      try await PlainTask(path: "x\(text)").on(stub.server).run()
      #expect(stub.urls == ["https://shop.test/x\(expected)"])
    }
  }

  // URL Standard §1.3: "The application/x-www-form-urlencoded percent-encode set is the component percent-encode set
  // and U+0021 (!), U+0027 (') to U+0029 RIGHT PARENTHESIS, inclusive, and U+007E (~)." It "contains all code points,
  // except the ASCII alphanumeric, U+002A (*), U+002D (-), U+002E (.), and U+005F (_)." §5.2: a space becomes a plus.
  @Test func `URL Standard §1.3: a form keeps letters, digits and four symbols`() throws {
    var rule = escaped(keeping: Self.alphanumeric + "*-._")
    rule[0x20] = "+"
    for (text, expected) in zip(Self.ascii, rule) {
      #expect(try FormEncoder().encode([text: text]) == Data("\(expected)=\(expected)".utf8))
    }
  }

  // URL Standard §5.2: names and values are encoded as UTF-8, and then every byte is escaped.
  @Test(arguments: [
    ("\u{80}", "%C2%80"), ("ÿ", "%C3%BF"), ("e\u{301}", "e%CC%81"), ("\u{FFFF}", "%EF%BF%BF"),
    ("\u{1F9F5}", "%F0%9F%A7%B5"),
  ]) func `URL Standard §5.2 and RFC 3986 §2.5: escapes each UTF-8 byte of a non-ASCII character`(
    text: String, expected: String
  ) throws {
    #expect(try FormEncoder().encode([text: text]) == Data("\(expected)=\(expected)".utf8))
    #expect(HTTPQuery([.init(text, text)]).encoded == "\(expected)=\(expected)")
    #expect("\(segment: text)" == expected)
  }

  // HTML Standard §4.10.21.8: "For field names and filenames for file fields, the result of the encoding in the
  // previous bullet point must be escaped by replacing any 0x0A (LF) bytes with the byte sequence `%0A`, 0x0D (CR) with
  // `%0D` and 0x22 (") with `%22`. The user agent must not perform any other escapes." Before that, a lone CR or LF in
  // a field name becomes CRLF.
  @Test func `HTML Standard §4.10.21.8: form names escape only CR, LF and the quote`() async throws {
    for text in Self.ascii {
      let expected = ["\n": "%0A", "\r": "%0D", "\"": "%22"][text] ?? text
      let name = ["\n", "\r"].contains(text) ? "%0D%0A" : expected
      let form = MultipartForm([.data(text, Data(), fileName: text)])
      let written = Shared(Data())
      try await form.body().forEachChunk { chunk in written.withLock { $0 += chunk } }
      let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(expected)\"\r\n"
      #expect(written.withLock { $0 }.starts(with: Data("--\(form.boundary)\r\n\(head)".utf8)))
    }
  }

  // RFC 9110 §5.6.4: "Recipients that process the value of a quoted-string MUST handle a quoted-pair as if it were
  // replaced by the octet following the backslash."
  @Test func `RFC 9110 §5.6.4: a backslash in a quoted string quotes any byte`() {
    for text in Self.ascii {
      #expect(ContentDisposition("form-data; name=\"a\\\(text)b\"")?.name == "a\(text)b")
      guard text != "\"", text != "\\" else { continue }
      #expect(ContentDisposition("form-data; name=\"a\(text)b\"")?.name == "a\(text)b")
    }
  }

  // RFC 8187 §3.2.1: "pct-encoded = "%" HEXDIG HEXDIG". HEXDIG is a digit or a letter in any case (RFC 5234 §2.3).
  @Test func `RFC 8187 §3.2: unescapes any byte of an extended value, with hex digits in any case`() {
    for (text, byte) in zip(Self.ascii, 0..<128) {
      let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
      for digits in [digits, digits.uppercased()] {
        #expect(ContentDisposition("attachment; filename*=UTF-8'en'a%\(digits)b")?.fileName == "a\(text)b")
      }
    }
  }
}
