import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Field and file names in forms, as written by this library and other clients.
@Suite(.timeLimit(.minutes(1))) struct FormNameTests {
  private func disposition(_ parameters: String) -> ContentDisposition? {
    ContentDisposition(ofPart: "form-data; \(parameters)")
  }

  private static let names = [
    "title", "", " ", "a b", "a;b", "a=b", "a,b", "é", "日本語", "👩‍👩‍👧", "e\u{301}", "a\"b", "\"", "\"\"", "a\"; b=\"c",
    "\"a\"",
    "\\", "a\\", "\\\\", "a\\b", "a\\\\b", "C:\\x\\y", "\\\"", "a\\\"", "\\\"a", "a\\\"; filename=\"b", "\\;", "\\\\\"",
    "a\r\nb",
    "\r\n", "\r\n\r\n", "a\r\nX: y\r\n\r\nb", "%", "%2", "%41", "100%", "%0", "%%22".replacing("%22", with: "x"),
    "a[b]", "a[]", "<a>",
    "\t", "\u{1}", "\u{7F}", "'", "a'b", "UTF-8''x", "name", "; name=x", "--b", "a:b", "a\u{2028}b", "\u{FEFF}a", "+",
    "a+b",
    "&amp;", "&#34;",
  ]

  @Test func `field and file names survive encoding and parsing`() async throws {
    for name in Self.names {
      for fileName in [nil, "x", name] {
        let body = try MultipartForm([.data(name, Data("1".utf8), fileName: fileName)], boundary: "b").body()
        let bytes = Shared(Data())
        try await body.forEachChunk { chunk in bytes.withLock { $0 += chunk } }
        let response = HTTPResponse(
          url: .known("https://a.test"), headers: [.contentType: "multipart/form-data; boundary=b"],
          body: HTTPResponseBody(bytes.withLock { $0 }))
        var read: [ContentDisposition?] = []
        for try await part in try response.parts() { read.append(part.disposition) }
        #expect(read.count == 1 && read[0]?.type == "form-data")
        #expect(read[0]?.name == name, "\(name.debugDescription)")
        #expect(read[0]?.fileName == fileName, "\(name.debugDescription)")
      }
    }
  }

  // HTML Standard, "multipart/form-data encoding algorithm": line breaks in a field name become CRLF, and line breaks
  // in a file name are kept.
  @Test(arguments: [("a\nb", "a\r\nb"), ("a\rb", "a\r\nb"), ("\n\r", "\r\n\r\n"), ("\r\r\n\n", "\r\n\r\n\r\n")])
  func `normalizes a line break in a field name to CRLF`(name: String, read: String) {
    let head = MultipartForm.Part.data(name, Data(), fileName: name).head(after: "b")
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let disposition = ContentDisposition(ofPart: String(lines[1].dropFirst("Content-Disposition: ".count)))
    #expect(disposition?.name == read && disposition?.fileName == name)
    let written = read.replacing("\r\n", with: "%0D%0A")
    #expect(lines[1].contains("name=\"\(written)\"; filename"))
  }

  @Test(arguments: [
    // Browsers, curl since 7.81, and urllib3 2.
    (#"name="a%22b""#, "a\"b"), (#"name="a%0D%0Ab%0d%0a""#, "a\r\nb\r\n"), (#"name="a\b""#, #"a\b"#),
    (#"name="a\""#, #"a\"#),
    (#"name="%2522%41""#, "%2522%41"), (#"name="a\%22b""#, #"a\"b"#),
    // curl before 7.81 and with --form-escape, Go, Python's email.
    (#"name="a\"b""#, "a\"b"), (#"name="a\"""#, "a\""), (#"name="\"a\\b\"%22""#, #""a\b"%22"#),
    (#"name="a\"; b""#, "a\"; b"),
    (#"name="a\"; filename=\"b""#, "a\"; filename=\"b"), (#"name="\"; \"""#, "\"; \""),
    // urllib3 1 and aiohttp.
    (#"name*=utf-8''a%22%C3%A9"#, "a\"é"), (#"name="a"; name*=utf-8''b"#, "a"),
    // Tokens and other values.
    (#"name=a"#, "a"), (#"NAME = a b "#, "a b"), (#"name=a%22b"#, "a%22b"), (#"name=é"#, "é"), (#"name="a"#, "a"),
    (#"x; name="a""#, "a"), (#"name="a"; name="b""#, "a"), (#"filename="; name=b"; name="a""#, "a"),
    (#"name="a" b; c=d"#, "a"),
    (#"name="""#, ""), (#"name=;"#, ""),
  ])
  func `parses names in the formats of other clients`(written: String, name: String) {
    #expect(disposition(written)?.name == name)
    #expect(disposition("filename=\"f\"; \(written)")?.name == name)
  }

  @Test func `ignores a parameter without an equals sign`() {
    #expect(disposition("name")?.name == nil && disposition("filename X; name=a")?.fileName == nil)
    #expect(disposition("\"\"; name=a")?.name == "a" && ContentDisposition(ofPart: "; name=a") == nil)
  }

  // RFC 2183: percent signs have no meaning in other dispositions.
  @Test func `applies form escapes only to form-data`() {
    #expect(ContentDisposition(ofPart: #"attachment; filename="a%22b\c""#)?.fileName == "a%22bc")
    #expect(ContentDisposition(ofPart: #"Form-Data; filename="a%22b\c""#)?.fileName == #"a"b\c"#)
  }

  @Test func `parses a long value in linear time`() {
    let clock = ContinuousClock()
    for text in ["\\\"", "\\\"; a", "\";", "\"", "a=\"\\", ";", "%22", "\\\"; a = "] {
      let time = clock.measure { _ = disposition("name=\"" + String(repeating: text, count: 50_000)) }
      #expect(time < .seconds(5), "\(text)")
    }
  }
}
