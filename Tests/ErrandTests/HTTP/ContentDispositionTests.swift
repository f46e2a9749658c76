import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// RFC 6266, and names that are safe in any folder.
@Suite struct ContentDispositionTests {
  @Test(arguments: [
    ("Attachment; filename=example.html", "attachment", "example.html"),
    ("INLINE; FILENAME= \"an example.html\"", "inline", "an example.html"),
    ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
    ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "attachment", "€ rates"),
    ("attachment; filename=\"a\\\"b;c.txt\"", "attachment", "a\"b;c.txt"), ("form-data; name=x", "form-data", nil),
    ("attachment; filename*=utf-16''x; filename=y", "attachment", "y"), ("attachment", "attachment", nil),
  ]) func `type and file name`(value: String, type: String, name: String?) {
    let disposition = ContentDisposition(value)
    #expect(disposition?.type == type && disposition?.fileName == name)
  }

  @Test func `a value without a type is none`() {
    #expect(ContentDisposition("") == nil && ContentDisposition("; a=b") == nil)
  }

  private func name(_ disposition: String?, _ url: String = "https://a.test/files/report", _ type: String? = nil)
    -> String
  {
    var headers: HTTPHeaders = [:]
    if let disposition { headers[.contentDisposition] = "attachment; filename=\"\(disposition)\"" }
    if let type { headers[.contentType] = type }
    return HTTPResponse(url: .known(url), headers: headers).suggestedFileName
  }

  @Test(arguments: [
    ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("C:\\\\a\\\\b.txt", "b.txt"),
    ("..", "report"),
    (".bashrc", "bashrc"), ("a.txt. .", "a.txt"), ("a\u{202E}txt.exe", "atxt.exe"), ("a\u{0}/b", "b"),
    ("a\tb:c?.txt", "abc.txt"),
    ("", "report"), ("...", "report"), ("é.txt", "é.txt"),
  ]) func `a name is safe in any folder, whatever is sent`(sent: String, safe: String) {
    #expect(name(sent) == safe)
  }

  @Test func `where nothing is sent the URL's path names it, and the media type its extension`() {
    #expect(name(nil) == "report" && name(nil, "https://a.test/") == "download")
    #expect(name(nil, "https://a.test/a%2F..%2Fb?x=y", "image/png; q=1") == "b.png")
    #expect(name("x", "https://a.test/", "application/json") == "x.json")
    #expect(name("x.txt", "https://a.test/", "application/json") == "x.txt")
    #expect(name("x", "https://a.test/", "application/x-unknown") == "x")
  }

  @Test func `a long name is cut, and keeps its extension`() {
    let cut = name(String(repeating: "é", count: 300) + ".tar")
    #expect(cut.utf8.count <= 200 && cut.hasSuffix("é.tar"))
  }
}
