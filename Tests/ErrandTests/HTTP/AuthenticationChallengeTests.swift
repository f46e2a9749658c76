import Errand
import Foundation
import Testing

/// RFC 9110 §11.6.1: `WWW-Authenticate = #challenge`.
@Suite(.timeLimit(.minutes(1))) struct AuthenticationChallengeTests {
  private func challenges(_ values: String...) -> [AuthenticationChallenge] {
    HTTPHeaders(values.map { .init(.wwwAuthenticate, $0) }).challenges
  }

  private func words(_ values: String...) -> [String] {
    HTTPHeaders(values.map { .init(.wwwAuthenticate, $0) }).challenges.map(\.description)
  }

  @Test func `parses the RFC's example as two challenges`() throws {
    let text = #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
    let list = challenges(text)
    #expect(list.map(\.scheme) == ["Basic", "Newauth"])
    #expect(list[0].realm == "simple" && list[0].parameters.count == 1)
    #expect(list[1]["TYPE"] == "1" && list[1]["title"] == #"Login to "apps""#)
    #expect(list[1].description == #"Newauth realm="apps", type="1", title="Login to \"apps\"""#)
  }

  @Test func `compares schemes and parameter names case-insensitively and parses every field line`() {
    let list = challenges("BEARER Realm=x", "negotiate")
    #expect(list.count == 2 && list[0].isScheme("bearer") && list[0].realm == "x" && list[1].isScheme("Negotiate"))
  }

  @Test(arguments: ["dGVzdA==", "a.b-c_d~e+f/g", "abc="])
  func `parses a challenge with a token68 instead of parameters`(value: String) {
    let list = challenges("Negotiate \(value) , Basic realm=\"a,b\"")
    #expect(list.count == 2 && list[0].token68 == value && list[1].realm == "a,b")
  }

  @Test func `parses a scheme without parameters and the next scheme as two challenges`() {
    #expect(words("Negotiate, NTLM,Basic realm=x") == ["Negotiate", "NTLM", #"Basic realm="x""#])
  }

  @Test func `skips empty members and whitespace around the equals sign`() {
    #expect(words(", ,\tBearer  realm =\t\"a\" ,, error= x,") == [#"Bearer realm="a", error="x""#])
  }

  @Test func `uses the first of two parameters with the same name`() {
    #expect(challenges("Basic realm=a, REALM=b")[0].realm == "a")
  }

  @Test(arguments: [
    ("Basic realm=\"a\" b, Bearer", ["Bearer"]),
    ("=, Bearer realm=a", [#"Bearer realm="a""#]),
    ("realm=\"no scheme\", Bearer", ["Bearer"]),
    ("Bas(ic realm=a, title=b, Bearer", ["Bearer"]),
    ("", []), (" \t", []), (",,,", []), ("\"", []),
  ])
  func `skips malformed challenges and keeps the valid ones`(text: String, expected: [String]) {
    #expect(words(text) == expected)
  }

  // Chromium's `HttpAuthChallengeTokenizer` and curl parse all of these.
  @Test(arguments: [
    ("Basic realm=foobar@baz.com", #"Basic realm="foobar@baz.com""#),
    ("Basic realm=\"foobar@baz.com", #"Basic realm="foobar@baz.com""#),
    ("Basic realm=\"", #"Basic realm="""#), ("Basic realm=\"foo bar", #"Basic realm="foo bar""#),
    ("Basic realm=\"foo, Bearer", #"Basic realm="foo, Bearer""#), ("Basic realm=\"foo\\", #"Basic realm="foo\\""#),
    (
      "Digest qop=auth-int, algorithm=md5, realm=\"foo",
      #"Digest qop="auth-int", algorithm="md5", realm="foo""#
    ),
    ("Digest realm=dev@host, nonce=a/b+c==, qop=auth", #"Digest realm="dev@host", nonce="a/b+c==", qop="auth""#),
    ("Basic realm=a b, error=c", #"Basic realm="a b", error="c""#),
    ("Bearer scope=a:b c/d , error=e", #"Bearer scope="a:b c/d", error="e""#),
    ("Digest realm=\"a\", opaque=, nonce=n", #"Digest realm="a", opaque="", nonce="n""#),
    ("Digest realm=\"a\" nonce=\"b\"\tqop=auth, x=y", #"Digest realm="a", nonce="b", qop="auth", x="y""#),
    ("Digest realm=a:b nonce=n==  qop = auth", #"Digest realm="a:b", nonce="n==", qop="auth""#),
    ("Basic realm=http://a.test/?b=c&d=e", #"Basic realm="http://a.test/?b=c&d=e""#),
    ("Basic realm=caf\u{E9}", "Basic realm=\"caf\u{E9}\""), ("NTLM", "NTLM"),
  ])
  func `parses unquoted and unterminated values as browsers do`(text: String, expected: String) {
    #expect(words(text) == [expected])
    #expect(words(expected) == [expected])
  }

  // Chromium drops the third equals sign to suit its decoder. This parser keeps the sign because it can be part of the
  // token (RFC 9110 §11.2).
  @Test func `keeps the padding of a token68`() {
    #expect(challenges("NTLM  SGVsbG8sIFdvcmxkCg===").map(\.token68) == ["SGVsbG8sIFdvcmxkCg==="])
    // "qop=" is also a token68 (RFC 9110 §11.2), not a parameter.
    #expect(challenges("Digest qop=").map(\.parameters.count) == [0])
  }

  @Test func `a malformed field line does not affect the next line`() {
    #expect(words("Basic realm=\"a", "Bearer realm=b") == [#"Basic realm="a""#, #"Bearer realm="b""#])
    #expect(words("Basic realm=\"a\"b", "Bearer realm=b") == [#"Bearer realm="b""#])
  }

  @Test func `parses a huge value in linear time`() {
    let text = "Bearer " + (0..<20_000).map { "p\($0)=\"\\\\\\\"\"" }.joined(separator: ",")
    #expect(challenges(text).count == 1)
    #expect(challenges(String(repeating: "\"", count: 200_000)).isEmpty)
    #expect(challenges(String(repeating: "a ", count: 100_000)).count <= 1)
    #expect(challenges("Bearer a=" + String(repeating: "b ", count: 100_000)).count == 1)
    #expect(challenges("Bearer a=" + String(repeating: "b  c=d ", count: 50_000)).first?.parameters.count == 2)
  }

  @Test func `a challenge can be parsed from its description`() {
    let odd = challenges("Basic realm=\"a\\\"\u{301}b\\\\\", charset=utf-8")
    #expect(odd.first?.realm == "a\"\u{301}b\\" && challenges(odd.map(\.description).joined()) == odd)
  }

  // RFC 9110 §11.3: a challenge has either a token68 or parameters.
  @Test func `ignores parameters after a token68`() {
    #expect(words("Negotiate abc==, realm=x, Basic realm=y") == ["Negotiate abc==", #"Basic realm="y""#])
  }

  @Test func `parses proxy challenges from Proxy-Authenticate`() {
    let headers: HTTPHeaders = [.proxyAuthenticate: "Basic realm=p", .wwwAuthenticate: "Bearer"]
    #expect(headers.challenges(in: .proxyAuthenticate).map(\.realm) == ["p"])
    #expect(headers.challenges.map(\.scheme) == ["Bearer"])
  }
}
