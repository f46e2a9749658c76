import Foundation
import Testing

@testable import Errand

/// Digest credentials, checked against the test vectors in the RFCs.
@Suite(.timeLimit(.minutes(1))) struct DigestAnswerTests {
  private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

  private let origin = Origin(.known("https://shop.test"))

  private func challenge(_ value: String, inMemory: Bool = true) throws -> DigestChallenge {
    let headers: HTTPHeaders = [.wwwAuthenticate: value]
    let best = DigestChallenge.best(in: headers, of: try #require(origin), hasBodyInMemory: inMemory)
    return try #require(best).get()
  }

  private func refusal(_ value: String, inMemory: Bool = true) -> String? {
    let headers: HTTPHeaders = [.wwwAuthenticate: value]
    guard let origin,
      case .failure(let refusal) = DigestChallenge.best(in: headers, of: origin, hasBodyInMemory: inMemory)
    else { return nil }
    return refusal.reason
  }

  /// Returns the `Authorization` parameters of a session's first request.
  private func answer(
    _ challenge: DigestChallenge, user: String = "Mufasa", password: String = "Circle of Life",
    clientNonce: String = clientNonce, method: HTTPMethod = .get, body: String = "", next: String? = nil
  ) throws -> AuthenticationChallenge {
    var session = DigestSession(challenge, clientNonce: clientNonce)
    session.count = 1
    if let next { session.challenge.nonce = next }
    let answer = DigestAnswer(
      session: session, credential: Credential(user: user, password: password), method: method,
      target: "/dir/index.html", body: Data(body.utf8))
    let headers: HTTPHeaders = [.wwwAuthenticate: answer.authorization]
    return try #require(headers.challenges.first)
  }

  // RFC 7616 §3.9.1, with and without a session algorithm.
  @Test(arguments: [
    ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
    ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ("MD5-sess", "e783283f46242139c486a698fec7211d"),
    ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
  ])
  func `matches the example in RFC 7616`(algorithm: String, response: String) throws {
    let challenge = try challenge(
      #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), nonce="\#(Self.nonce)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
    )
    let answer = try answer(challenge)
    #expect(answer["response"] == response && answer["algorithm"] == algorithm)
    #expect(answer["username"] == "Mufasa" && answer.realm == "http-auth@example.org")
    #expect(answer["uri"] == "/dir/index.html" && answer["qop"] == "auth" && answer["nc"] == "00000001")
    #expect(answer["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS" && answer["cnonce"] == Self.clientNonce)
    #expect(answer["userhash"] == nil)
  }

  @Test func `matches the examples in RFC 2617 and RFC 2069`() throws {
    let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
    let newer = try challenge(#"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="\#(nonce)""#)
    let first = try answer(newer, password: "Circle Of Life", clientNonce: "0a4f113b")
    #expect(first["response"] == "6629fae49393a05397450978507c4ef1" && first["algorithm"] == nil)
    let older = try challenge(#"digest realm="testrealm@host.com", nonce="\#(nonce)""#)
    let second = try answer(older, password: "CircleOfLife")
    #expect(second["response"] == "1949323746fe6a43ef61f9606e7febea")
    #expect(second["qop"] == nil && second["nc"] == nil && second["cnonce"] == nil)
  }

  @Test func `a session algorithm keeps its first nonce in the session key`() throws {
    let challenge = try challenge(
      #"Digest realm="http-auth@example.org", qop="auth", algorithm=MD5-sess, nonce="\#(Self.nonce)""#)
    #expect(try answer(challenge, next: "n2")["response"] == "f89f728d81412779ddbe8704b0deedc2")
  }

  // RFC 7616 §3.4.3. libcurl hashes an empty body instead.
  @Test(arguments: [
    ("MD5", "a1abf5c7fa9ae74478eb9ffa265bf546"),
    ("SHA-256", "329dcaaa9ce45c3ea5f919f438118f338057e9104aa58ecd51368264e88ced0c"),
  ])
  func `auth-int hashes the body if it is in memory`(algorithm: String, response: String) throws {
    let text =
      #"Digest realm="http-auth@example.org", qop=auth-int, algorithm=\#(algorithm), nonce="\#(Self.nonce)""#
    let answer = try answer(try challenge(text), method: .post, body: "body")
    #expect(answer["response"] == response && answer["qop"] == "auth-int")
    #expect(refusal(text, inMemory: false)?.contains("auth-int") == true)
  }

  // RFC 7616 §3.4.4 and §4.
  @Test func `hashes the user name or encodes it in UTF-8, as the server requests`() throws {
    let begin = #"Digest realm="api@example.org", qop="auth", algorithm=SHA-256, nonce="n""#
    let hashed = try answer(try challenge(begin + ", charset=UTF-8, userhash=true"), user: "Jäsøn Doe")
    #expect(hashed["username"] == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
    #expect(hashed["userhash"] == "true" && hashed["username*"] == nil)
    let extended = try answer(try challenge(begin + ", charset=UTF-8"), user: "Jäsøn Doe")
    #expect(extended["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe" && extended["username"] == nil)
    #expect(try answer(try challenge(begin), user: "Jäsøn Doe")["username"] == "Jäsøn Doe")
    #expect(try answer(try challenge(begin + ", charset=UTF-8"), user: "ann")["username"] == "ann")
  }

  @Test func `escapes quotation marks and backslashes when writing and unescapes them when parsing`() throws {
    let challenge = try challenge(#"Digest realm="a \"b\" \\c", nonce="n\"1", opaque="o\\", qop="auth""#)
    #expect(challenge.realm == #"a "b" \c"# && challenge.nonce == #"n"1"#)
    let answer = try answer(challenge, user: #"an"n\"#)
    #expect(answer["username"] == #"an"n\"# && answer.realm == #"a "b" \c"# && answer["nonce"] == #"n"1"#)
    #expect(answer["opaque"] == #"o\"#)
  }

  // RFC 7616 §3.7.
  @Test func `answers the strongest supported challenge`() throws {
    let strongest = try challenge(
      #"Basic realm="b", Digest realm="a", nonce="1", algorithm=MD5, Digest realm="a", nonce="2", algorithm=SHA-512-256, Digest realm="a", nonce="3", algorithm=sha-256, Digest realm="a", nonce="4", algorithm=SHA-256"#
    )
    #expect(strongest.nonce == "3" && strongest.algorithm == .sha256)
    let basic: HTTPHeaders = [.wwwAuthenticate: #"Basic realm="b""#]
    let best = DigestChallenge.best(in: basic, of: try #require(origin), hasBodyInMemory: true)
    #expect(best == nil)
  }

  @Test(arguments: [
    (#"Digest realm="r""#, "nonce"), (#"Digest realm="r", nonce="""#, "nonce"),
    (#"Digest realm="r", nonce="n", algorithm=SHA-512-256"#, "SHA-512-256"),
    (#"Digest realm="r", nonce="n", qop="token""#, "token"),
    (#"Digest realm="r", nonce="\#(String(repeating: "n", count: 9000))""#, "8 KiB"),
    ("Digest realm=\"r\u{1}\", nonce=\"n\"", "control"),
  ])
  func `rejects an invalid or unsupported challenge with a reason`(value: String, reason: String) {
    #expect(refusal(value)?.contains(reason) == true, "\(refusal(value) ?? "")")
  }

  // RFC 7616 §3.4. curl and Chromium do the same.
  @Test(arguments: ["MD5", "md5", "mD5", "\"md5\"", "sha-256", "MD5-SESS"], ["auth", "AUTH", "\"aUth, auth-int\""])
  func `writes algorithm and qop as they appear in the challenge`(algorithm: String, qop: String) throws {
    let begin = #"realm="http-auth@example.org", nonce="\#(Self.nonce)""#
    let challenge = try challenge("Digest \(begin), algorithm=\(algorithm), qop=\(qop)")
    let unquoted = algorithm.filter { $0 != "\"" }
    let answer = try answer(challenge)
    #expect(answer["algorithm"] == unquoted && answer["qop"] == String(qop.filter { $0 != "\"" }.prefix(4)))
    // The hash includes the qop.
    if unquoted == "md5", qop == "auth" { #expect(answer["response"] == "8ca523f5e9506fed4657c9700eebdbec") }
    if unquoted == "md5", qop == "AUTH" { #expect(answer["response"] == "2f88e98c258e014b26b6a225bb3f8aa8") }
  }

  // From Chromium's handler tests.
  @Test func `accepts the challenges that browsers accept`() throws {
    #expect(try challenge("Digest nonce=\"xyz\"").realm == "", "some servers omit the realm")
    #expect(try challenge("Digest nonce=xyz, realm=ThunderBluff, foo=\"bar\"").nonce == "xyz")
    #expect(try challenge("Digest nonce=\"xyz\", realm=\"Oblivion\", qop=\"auth,foo\"").statedProtection == "auth")
    #expect(try challenge("Digest nonce=\"xyz\", realm=\"Oblivion\", qop=\"\"").protection == .none)
    let bare = try challenge("Digest realm=dev@host, nonce=a/b+c, qop=auth")
    let answer = try answer(bare, user: "foo", password: "bar")
    #expect(answer.realm == "dev@host" && answer["nonce"] == "a/b+c" && answer["qop"] == "auth")
    let session = try challenge("Digest realm=\"Baztastic\", nonce=\"AAAAAAAA\", algorithm=\"md5-sess\", qop=auth")
    #expect(session.algorithm == .md5Session && session.statedAlgorithm == "md5-sess")
  }

  // RFC 1321 §A.5.
  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
    (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
  ])
  func `MD5 matches the test vectors in RFC 1321`(text: String, hash: String) {
    #expect(SHA256.hexadecimal(MD5.hash(Array(text.utf8))) == hash)
  }

  @Test(arguments: [
    ("http://a.test", "/"), ("http://a.test?x=1#f", "/?x=1"), ("https://u@a.test:8/b/c%20d?e=f/?#g", "/b/c%20d?e=f/?"),
    ("http://[::1]:80/x", "/x"),
  ])
  func `the request target is the URL's path and query`(url: String, target: String) {
    #expect(URL.known(url).requestTarget == target)
  }
}
