import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// RFC 6266, and names that are safe in any folder.
@Suite struct ContentDispositionTests {
  @Test(arguments: [
    ("Attachment; filename=example.html", "attachment", "example.html"),
    ("attachment; filename=a,b.txt; x=y", "attachment", "a,b.txt"),
    ("attachment; filename=a,b.txt; filename*=UTF-8''right.txt", "attachment", "right.txt"),
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

  @Test(arguments: [
    // An accent, or what is not seen, joins a slash to one character.
    ("..%2F%E2%80%8D..%2F%E2%80%8Dpasswd", "passwd"), ("a%2F%CC%81b", "\u{301}b"), ("a%5C%E2%80%8Db", "b"),
    // A dot is the first byte of a hidden file whatever comes after it.
    (".%CC%81bashrc", "\u{301}bashrc"), ("a.txt.%E2%80%8D", "a.txt"), ("%20%CC%81a", "\u{301}a"),
  ]) func `a name is read by scalars, not by characters`(sent: String, safe: String) {
    let name = HTTPResponse(
      url: .known("https://a.test/report"), headers: [.contentDisposition: "attachment; filename*=UTF-8''\(sent)"]
    ).suggestedFileName
    #expect(Array(name.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test func `where nothing is sent the URL's path names it, and the media type its extension`() {
    #expect(name(nil) == "report" && name(nil, "https://a.test/") == "download")
    #expect(name(nil, "https://a.test/a%2F..%2Fb?x=y", "image/png; q=1") == "b.png")
    #expect(name("x", "https://a.test/", "application/json") == "x.json")
    #expect(name("x.txt", "https://a.test/", "application/json") == "x.txt")
    #expect(name("x", "https://a.test/", "application/x-unknown") == "x")
  }

  @Test(arguments: [
    ("a.txt", 1, "a.txt"), ("a.txt", 2, "a (2).txt"), ("a", 12, "a (12)"), ("a.tar.gz", 2, "a (2).tar.gz"),
    ("a.b.c", 2, "a.b (2).c"), (".tar.gz", 2, ".tar (2).gz"), ("é.txt", 3, "é (3).txt"),
  ]) func `a number stands before the extension`(name: String, number: Int, numbered: String) {
    #expect(SafeFileName.numbered(name, number) == numbered)
  }

  @Test func `a long name is cut, and keeps its extension`() {
    let cut = name(String(repeating: "é", count: 300) + ".tar")
    #expect(cut.utf8.count <= 200 && cut.hasSuffix("é.tar"))
    let typed = name(String(repeating: "a", count: 300), "https://a.test/", "application/json")
    #expect(typed == String(repeating: "a", count: 195) + ".json")
    let blank = name(String(repeating: "a", count: 199) + " b")
    #expect(blank == String(repeating: "a", count: 199), "no blank or dot is left at the end")
    // One character of 1,001 scalars.
    let accents = name("a" + String(repeating: "\u{301}", count: 1000) + ".txt")
    #expect(accents.utf8.count <= 200 && accents.unicodeScalars.first == "a" && accents.hasSuffix(".txt"))
  }
}
