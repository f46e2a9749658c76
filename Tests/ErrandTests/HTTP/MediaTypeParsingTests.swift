import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// MIME Sniffing §4.4 and §4.5, and Fetch §2.2.2. Browsers parse `Content-Type` with these algorithms.
@Suite(.timeLimit(.minutes(1))) struct MediaTypeParsingTests {
  @Test(arguments: [
    ("text/html;charset=\"\u{7F};charset=foo\";charset=GBK", "text/html;charset=GBK"),
    ("text/html;charset=\u{B}gbk", "text/html"), ("text/html;\";charset=gbk", "text/html;charset=gbk"),
    ("text/html;test=;charset=gbk", "text/html;charset=gbk"), ("x/x;x=\t", "x/x"), ("x/x\n\r\t ;x=x", "x/x;x=x"),
    ("text/html;charset= \"gbk\"", "text/html;charset=\" \\\"gbk\\\"\""),
    ("text/html;in]valid=\";asd=foo\";foo=bar", "text/html;foo=bar"), ("text/html;charset =gbk", "text/html"),
    ("text/html;charset= gbk", "text/html;charset=\" gbk\""), ("x/x;test=\"\\", "x/x;test=\"\\\\\""),
    ("text/html;charset=gbk(", "text/html;charset=\"gbk(\""), ("text/html ; charset=gbk ", "text/html;charset=gbk"),
    ("text/html;\n\rCHARSET=gbk", "text/html;charset=gbk"), ("text/html;x=x;X=y;x=z", "text/html;x=x"),
    ("text/html;charset;charset=gbk", "text/html;charset=gbk"), ("text/html;;;; charset=gbk", "text/html;charset=gbk"),
    ("text/html;charset=\"gbk", "text/html;charset=gbk"), ("text/html;charset=\"gbk\"x", "text/html;charset=gbk"),
    ("text/html;charset=\"\\g\\b\\k\"", "text/html;charset=gbk"),
    ("text/html;charset=gbk\"", "text/html;charset=\"gbk\\\"\""),
    ("text/html;charset=\"\"", "text/html;charset=\"\""), ("text/html;charset='utf-8'", "text/html;charset='utf-8'"),
    ("text/plain; foo bar; charset=windows-1252", "text/plain;charset=windows-1252"),
    ("!#$%&'*+-.^_`|~09azAZ/x;!#$%&'*+-.^_`|~09azAZ=y", "!#$%&'*+-.^_`|~09azaz/x;!#$%&'*+-.^_`|~09azaz=y"),
    ("x/x;x=é\u{FF}", "x/x;x=\"é\u{FF}\""), ("x/x;x=\u{FFFD};y=z", "x/x;y=z"), ("\t Text/HTML\r\n", "text/html"),
  ]) func `skips a malformed parameter and keeps the other parameters`(value: String, normalized: String) {
    #expect(MediaType(value).normalized?.rawValue == normalized)
    #expect(MediaType(normalized).normalized?.rawValue == normalized)
  }

  @Test(arguments: [
    "", "\t", "/", "text", "text/", "/html", "text/ html", "text /html", "te xt/html", "text/html/x", "text/html(x)",
    "(/x", "x/é", "text;a=/b", "\u{B}x/x", "x/x\u{B}", "x/\u{212A}",
  ]) func `a media type without a valid essence has no normalized form`(value: String) {
    #expect(MediaType(value).normalized == nil)
  }

  @Test func `a parameter name must be a token`() {
    for scalar in (0...0xFF).compactMap({ Unicode.Scalar($0) }) where scalar != "=" && scalar != ";" {
      let isName = scalar.isASCII && HTTPHeaderName.isTokenByte(UInt8(scalar.value))
      let type = MediaType("x/x;a\(scalar)=x;bonus=y")
      #expect(type.parameter("a\(scalar)") == (isName ? "x" : nil), "\(scalar.value)")
      #expect(type.parameter("bonus") == "y", "\(scalar.value)")
    }
  }

  @Test func `a parameter value must not contain control characters other than tabs`() {
    for scalar in (0...0x200).compactMap({ Unicode.Scalar($0) }) where scalar != "\"" && scalar != "\\" && scalar != ";"
    {
      let isValue = scalar == "\t" || scalar.value >= 0x20 && scalar.value != 0x7F && scalar.value <= 0xFF
      let quoted = MediaType("x/x;a=\"b\(scalar)c\";bonus=y")
      #expect(quoted.parameter("a") == (isValue ? "b\(scalar)c" : nil), "\(scalar.value)")
      let bare = MediaType("x/x;a=b\(scalar)c;bonus=y")
      #expect(bare.parameter("a") == quoted.parameter("a"), "\(scalar.value)")
      #expect(quoted.parameter("bonus") == "y" && bare.parameter("bonus") == "y", "\(scalar.value)")
    }
  }

  private func type(_ lines: [String]) -> String? {
    let headers = HTTPHeaders(lines.map { .init(.contentType, $0) })
    return HTTPResponse(url: .known("https://a.test/"), headers: headers).mediaType?.normalized?.rawValue
  }

  @Test(arguments: [
    (["text/plain", ""], "text/plain"), (["", "text/plain"], "text/plain"), (["*/*, text/html"], "text/html"),
    (["text/html", "*/*"], "text/html"), (["text/html, */*;charset=gbk"], "text/html"),
    (["text/plain, */*"], "text/plain"), (["text/html, text/plain"], "text/plain"),
    (["text/plain;charset=gbk", "text/html"], "text/html"), (["text/plain", "text/plain"], "text/plain"),
    (["text/plain;charset=gbk", "text/html;charset=windows-1254"], "text/html;charset=windows-1254"),
    (["text/plain;charset=gbk", "Text/Plain"], "text/plain;charset=gbk"),
    (["text/plain;charset=gbk", "text/plain;charset=utf-8"], "text/plain;charset=utf-8"),
    (["text/plain;charset=gbk;x=y", "text/plain"], "text/plain;charset=gbk"),
    (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
    (["text/html;charset=gbk", "text/html;x=\",text/plain"], "text/html;x=\",text/plain\";charset=gbk"),
    (["text/html;x=\"", "text/plain"], "text/html;x=\", text/plain\""),
    (["text/html;\"", "\"", "text/plain"], "text/plain"), (["text/html;\"", "\\\"", "text/plain"], "text/html"),
    (["text/html", "garbage"], "text/html"), ([",text/html,"], "text/html"), (["*/*"], nil), ([""], nil),
    (["", ""], nil),
    ([], nil),
  ]) func `uses the last valid media type of several Content-Type lines`(lines: [String], type: String?) {
    #expect(self.type(lines) == type)
    if !lines.isEmpty { #expect(self.type([lines.joined(separator: ", ")]) == type) }
  }

  @Test func `keeps a single type unchanged, even if it is malformed`() {
    for value in ["text/html; charset=UTF-8", "json", "text"] {
      #expect((["Content-Type": value] as HTTPHeaders).mediaType?.rawValue == value)
    }
  }

  @Test func `treats two equal Content-Type lines as one`() async throws {
    let transport = StubTransport { request in
      let isStream = request.headers[.accept] == "text/event-stream"
      let type = isStream ? "text/event-stream" : "text/plain; charset=iso-8859-1"
      let headers: HTTPHeaders = [.contentType: type, .contentType: type]
      let body = isStream ? Data("data: a\n\n".utf8) : Data([0x63, 0xE9])
      return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(body))
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    #expect(try await Endpoint<Void, String>.get("x").on(server).response().payload == "cé")
    var events = PlainTask().on(server).events().makeAsyncIterator()
    #expect(try await events.next()?.data == "a")
  }

  @Test(arguments: [" gbk", "'utf-8'", " \"utf-8\"", "utf-8\t"])
  func `ignores quotes and whitespace around a charset label`(
    label: String
  ) throws { #expect(try Charset.text(of: Data([0x41]), in: label) == "A") }
}
