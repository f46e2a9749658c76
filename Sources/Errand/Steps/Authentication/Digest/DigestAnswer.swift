import ErrandFoundation

/// A server's challenge and how often its nonce has been used.
struct DigestSession: Sendable, Equatable {
  var challenge: DigestChallenge
  /// The client nonce. The entire session uses the same nonce, as the `-sess` algorithms require (RFC 7616 §3.4.2).
  let clientNonce: String
  /// The nonce of the first challenge. The `-sess` algorithms continue to use it after later challenges.
  let firstNonce: String
  var count: UInt32 = 0

  init(_ challenge: DigestChallenge, clientNonce: String) {
    self.challenge = challenge
    self.clientNonce = clientNonce
    firstNonce = challenge.nonce
  }
}

/// The Digest credentials of one request (RFC 7616 §3.4).
struct DigestAnswer {
  let session: DigestSession
  let credential: Credential
  let method: HTTPMethod
  let target: String
  /// The body if it is in memory, otherwise empty.
  let body: Data

  private var challenge: DigestChallenge { session.challenge }

  var authorization: String {
    var parts: [String] = []
    // Servers that follow RFC 7616 read `username*`. Older servers accept plain UTF-8 (§3.4 and §3.9.2).
    if challenge.hashesUser {
      parts.append("username=\(hash("\(credential.user):\(challenge.realm)").quoted)")
    } else if challenge.isUTF8, !credential.user.hasOnlyBytes(where: { $0 < 0x80 }) {
      let user = credential.user.percentEncodedBytes(except: "-._~")
      parts.append("username*=UTF-8''\(String(decoding: user, as: UTF8.self))")
    } else {
      parts.append("username=\(credential.user.quoted)")
    }
    parts += ["realm=\(challenge.realm.quoted)", "nonce=\(challenge.nonce.quoted)", "uri=\(target.quoted)"]
    parts.append("response=\(response.quoted)")
    if let algorithm = challenge.statedAlgorithm { parts.append("algorithm=\(algorithm)") }
    if let protection = challenge.statedProtection { parts += ["qop=\(protection)", "nc=\(count)"] }
    if challenge.protection != .none || challenge.algorithm.isOfSession {
      parts.append("cnonce=\(session.clientNonce.quoted)")
    }
    if let opaque = challenge.opaque { parts.append("opaque=\(opaque.quoted)") }
    if challenge.hashesUser { parts.append("userhash=true") }
    return "Digest " + parts.joined(separator: ", ")
  }

  private var count: String {
    let digits = String(session.count, radix: 16)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  // §3.4.1 to §3.4.3.
  private var response: String {
    var secret = hash("\(credential.user):\(challenge.realm):\(credential.password)")
    if challenge.algorithm.isOfSession { secret = hash("\(secret):\(session.firstNonce):\(session.clientNonce)") }
    var request = "\(method.rawValue):\(target)"
    if challenge.protection == .body { request += ":" + challenge.algorithm.hash(Array(body)) }
    let covered =
      challenge.statedProtection.map { "\(challenge.nonce):\(count):\(session.clientNonce):\($0)" } ?? challenge.nonce
    return hash("\(secret):\(covered):\(hash(request))")
  }

  private func hash(_ text: String) -> String { challenge.algorithm.hash(text) }
}
