import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// `Content-Disposition` fields (RFC 6266), and file names that are safe to use in any folder.
@Suite(.timeLimit(.minutes(1))) struct ContentDispositionTests {
  @Test(arguments: [
    ("Attachment; filename=example.html", "attachment", "example.html"),
    ("attachment; filename=a,b.txt; x=y", "attachment", "a,b.txt"),
    ("attachment; filename=a,b.txt; filename*=UTF-8''right.txt", "attachment", "right.txt"),
    ("INLINE; FILENAME= \"an example.html\"", "inline", "an example.html"),
    ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
    ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "attachment", "€ rates"),
    ("attachment; filename=\"a\\\"b;c.txt\"", "attachment", "a\"b;c.txt"), ("form-data; name=x", "form-data", nil),
    ("attachment; filename*=utf-16''x; filename=y", "attachment", "y"), ("attachment", "attachment", nil),
  ]) func `parses the type and the file name`(value: String, type: String, name: String?) {
    let disposition = ContentDisposition(value)
    #expect(disposition?.type == type && disposition?.fileName == name)
  }

  // Firefox parses these in the same way. Every file name is sanitized before use, so lenient parsing is harmless.
  @Test(arguments: [
    ("; filename=foo.html", "foo.html"), ("filename=foo.html", "foo.html"), ("x=y; filename=foo.html", "foo.html"),
    ("\"foo; filename=bar;baz\"; filename=qux", "bar"), ("filename=foo.html, filename=bar.html", "bar.html"),
    (": inline; attachment; filename=foo.html", "foo.html"), ("inline; attachment; filename=foo.html", "foo.html"),
    ("attachment, attachment; filename=foo.html", "foo.html"), ("attachment; ; filename=foo", "foo"),
    ("attachment; badparameter; filename=foo", "foo"), ("attachment; foo bar; filename=foo", "foo"),
    ("attachment; a]b=\";x=\"; filename=foo", "foo"), ("attachment; filename = foo.html", "foo.html"),
    ("attachment; filename=foo bar.html", "foo bar.html"), ("attachment; filename=foo[1](2).html", "foo[1](2).html"),
    ("attachment; filename='foo.html'", "'foo.html'"), ("attachment; filename=foo.html ;", "foo.html"),
    ("attachment; filename=\"foo.html\".txt", "foo.html"), ("attachment; filename=\"bar", "bar"),
    ("attachment; filename=\"", ""), ("attachment; filename=", ""), ("attachment; filename=\"\\b\\a\\", "ba\\"),
    ("attachment; filename=a; filename=b", "a"), ("attachment; filename", nil), ("attachment; filename X", nil),
    ("attachment filename=bar", nil), ("attachment; xfilename=foo.html", nil), ("filename=foo.html; attachment", nil),
    // Values with a charset.
    ("attachment; filename*=foo-%41.html", "foo-A.html"), ("attachment; filename*=''foo", "foo"),
    ("attachment; filename*=UTF-8'foo-%41.html", "foo-A.html"),
    ("attachment; filename*=\"UTF-8''foo-%41.html\"", "foo-A.html"),
    ("attachment; filename*=ISO-8859-1''%e2%82%ac", "\u{E2}\u{201A}\u{AC}"), ("attachment; filename*=%E9.txt", "é.txt"),
    ("attachment; filename*=windows-1251''%CF%F0.txt", "Пр.txt"),
    ("attachment; filename*=UTF-8''it's a.txt", "it's a.txt"),
    ("attachment; filename*=UTF-8''%; filename=foo", "foo"), ("attachment; filename*=UTF-8''%e9; filename=foo", "foo"),
    ("attachment; filename*=UTF-8''; filename=foo", "foo"), ("attachment; filename*=none''x; filename=foo", "foo"),
    ("attachment; filename *=UTF-8''foo-%41.html", nil), ("attachment; filename* =UTF-8''foo-%41.html", "foo-A.html"),
    // RFC 2231 §3: a value in several segments.
    ("attachment; filename*0=foo; filename*1=bar", "foobar"), ("attachment; filename*1=bar; filename*0=foo", "foobar"),
    ("attachment; filename*0*=UTF-8''foo-%e4; filename*1*=%bd%a0; filename*2=\".html\"", "foo-你.html"),
    ("attachment; filename*0=a; filename*2=c; filename=x", "a"), ("attachment; filename*00=a; filename=x", "x"),
    ("attachment; filename*1=b; filename=x", "x"), ("attachment; filename*0=a; filename*=UTF-8''b", "b"),
    ("attachment; filename*0*=UTF-8''%e9; filename=x", "x"),
    // RFC 2047.
    ("attachment; filename=\"=?ISO-8859-1?Q?foo-=E4.html?=\"", "foo-ä.html"),
    ("attachment; filename==?utf-8?b?Zm9vLcOkLmh0bWw=?=", "foo-ä.html"),
    ("attachment; filename=\"=?UTF-8?Q?a?=\"; filename*=UTF-8''b", "b"),
  ]) func `parses a malformed field as browsers do`(value: String, name: String?) {
    #expect(ContentDisposition(value)?.fileName == name)
  }

  @Test func `a field without a type has an empty type`() {
    #expect(ContentDisposition("; a=b")?.type == "" && ContentDisposition("a=b")?.parameters == ["a": "b"])
    #expect(ContentDisposition("") == nil && ContentDisposition(";") == nil && ContentDisposition("; a") == nil)
  }

  @Test func `uses the first of several Content-Disposition lines`() {
    let headers: HTTPHeaders = [
      .contentDisposition: "attachment; filename=a.txt", .contentDisposition: "attachment; filename=b.txt",
    ]
    #expect(HTTPResponse(url: .known("https://a.test/"), headers: headers).suggestedFileName == "a.txt")
    #expect(headers.contentDisposition?.fileName == "a.txt")
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
  ]) func `sanitizes a file name for use in any folder`(sent: String, safe: String) {
    #expect(name(sent) == safe)
  }

  @Test(arguments: [
    // A slash and a following accent or invisible scalar form a single character.
    ("..%2F%E2%80%8D..%2F%E2%80%8Dpasswd", "passwd"), ("a%2F%CC%81b", "\u{301}b"), ("a%5C%E2%80%8Db", "b"),
    // A leading dot hides the file, regardless of the scalar that follows.
    (".%CC%81bashrc", "\u{301}bashrc"), ("a.txt.%E2%80%8D", "a.txt"), ("%20%CC%81a", "\u{301}a"),
  ]) func `sanitizes a name by scalars, not by characters`(sent: String, safe: String) {
    let name = HTTPResponse(
      url: .known("https://a.test/report"), headers: [.contentDisposition: "attachment; filename*=UTF-8''\(sent)"]
    ).suggestedFileName
    #expect(Array(name.unicodeScalars) == Array(safe.unicodeScalars))
  }

  @Test func `derives a missing name from the URL path and a missing extension from the media type`() {
    #expect(name(nil) == "report" && name(nil, "https://a.test/") == "download")
    #expect(name(nil, "https://a.test/a%2F..%2Fb?x=y", "image/png; q=1") == "b.png")
    #expect(name("x", "https://a.test/", "application/json") == "x.json")
    #expect(name("x.txt", "https://a.test/", "application/json") == "x.txt")
    #expect(name("x", "https://a.test/", "application/x-unknown") == "x")
  }

  @Test(arguments: [
    ("a.txt", 1, "a.txt"), ("a.txt", 2, "a (2).txt"), ("a", 12, "a (12)"), ("a.tar.gz", 2, "a (2).tar.gz"),
    ("a.b.c", 2, "a.b (2).c"), (".tar.gz", 2, ".tar (2).gz"), ("é.txt", 3, "é (3).txt"),
  ]) func `inserts a number before the extension`(name: String, number: Int, numbered: String) {
    #expect(SafeFileName.numbered(name, number) == numbered)
  }

  @Test func `truncates a long name and keeps its extension`() {
    let cut = name(String(repeating: "é", count: 300) + ".tar")
    #expect(cut.utf8.count <= 200 && cut.hasSuffix("é.tar"))
    let typed = name(String(repeating: "a", count: 300), "https://a.test/", "application/json")
    #expect(typed == String(repeating: "a", count: 195) + ".json")
    let blank = name(String(repeating: "a", count: 199) + " b")
    #expect(blank == String(repeating: "a", count: 199), "the name does not end in whitespace or a dot")
    // A single character of 1,001 scalars.
    let accents = name("a" + String(repeating: "\u{301}", count: 1000) + ".txt")
    #expect(accents.utf8.count <= 200 && accents.unicodeScalars.first == "a" && accents.hasSuffix(".txt"))
  }
}
