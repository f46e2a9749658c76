import ErrandFoundation

/// A Digest challenge that can be answered (RFC 7616 §3.3).
struct DigestChallenge: Sendable, Equatable {
  /// The parts of a request that the hash covers, in addition to the password, the method and the target.
  enum Protection: String, Sendable {
    /// Nothing else, as in RFC 2069.
    case none
    /// The nonce count.
    case count = "auth"
    /// The nonce count and the body.
    case body = "auth-int"
  }

  struct Refusal: Error, Equatable {
    let reason: String
  }

  let realm: String
  var nonce: String
  let opaque: String?
  let algorithm: DigestAlgorithm
  /// The spelling of the algorithm in the challenge. The request repeats this spelling (RFC 7616 §3.4). `nil` if the
  /// challenge specifies no algorithm.
  let statedAlgorithm: String?
  let protection: Protection
  /// The spelling of the chosen `qop` in the challenge. The request repeats this spelling. `nil` without protection.
  let statedProtection: String?
  /// The prefixes of request targets that the credential applies to, within the challenged origin. `nil` for all
  /// targets.
  let domain: [String]?
  /// Whether only the nonce has expired, and the credential is still valid.
  let isStale: Bool
  let isUTF8: Bool
  let hashesUser: Bool

  /// The maximum total size of the realm, the nonce and the opaque value, in bytes. If the `domain` value exceeds the
  /// remaining bytes, it matches nothing.
  static let largestSize = 8 << 10

  /// Returns the challenge to answer: the first one with the strongest algorithm (RFC 7616 §3.7). If no challenge can
  /// be answered, returns the reason, or `nil` if the response has no Digest challenge.
  static func best(in headers: HTTPHeaders, of origin: Origin, hasBodyInMemory: Bool) -> Result<
    DigestChallenge, Refusal
  >? {
    let readings = headers.challenges.filter { $0.isScheme("Digest") }.map { challenge in
      Result<DigestChallenge, Refusal> { () throws(Refusal) -> DigestChallenge in
        try DigestChallenge(challenge, origin, hasBodyInMemory: hasBodyInMemory)
      }
    }
    var best: DigestChallenge?
    for case .success(let challenge) in readings {
      if let best, best.algorithm.strength >= challenge.algorithm.strength { continue }
      best = challenge
    }
    return best.map { .success($0) } ?? readings.first
  }

  private init(_ challenge: AuthenticationChallenge, _ origin: Origin, hasBodyInMemory: Bool) throws(Refusal) {
    guard let nonce = challenge["nonce"], !nonce.isEmpty else {
      throw Refusal(reason: "its Digest challenge has no nonce")
    }
    // Some servers don't send a realm. Browsers and curl then use an empty realm.
    let realm = challenge.realm ?? ""
    let name = challenge["algorithm"]
    // RFC 7616 §3.3: the default is MD5, and a challenge with an unknown algorithm is ignored.
    guard let algorithm = DigestAlgorithm(name ?? "MD5") else {
      throw Refusal(
        reason: "its Digest challenge has an unknown algorithm: \((name ?? "").shortened.debugDescription)")
    }
    let opaque = challenge["opaque"]
    let size = realm.utf8.count + nonce.utf8.count + (opaque?.utf8.count ?? 0)
    guard size <= Self.largestSize else {
      throw Refusal(reason: "its Digest challenge is larger than \(Self.largestSize >> 10) KiB")
    }
    guard [realm, nonce, opaque ?? ""].allSatisfy(\.hasNoControls) else {
      throw Refusal(reason: "its Digest challenge contains a control character")
    }
    self.realm = realm
    self.nonce = nonce
    self.opaque = opaque
    self.algorithm = algorithm
    statedAlgorithm = name
    let offers = (challenge["qop"] ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
    (protection, statedProtection) = try Self.protection(offers.map(String.init), hasBodyInMemory)
    domain = Self.prefixes(challenge["domain"] ?? "", of: origin, atMost: Self.largestSize - size)
    isStale = challenge["stale"]?.lowercased() == "true"
    isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
    hashesUser = challenge["userhash"]?.lowercased() == "true"
  }

  /// Returns the protection to use, and its spelling in the challenge. Prefers `auth`, which doesn't need the body.
  private static func protection(_ offers: [String], _ hasBodyInMemory: Bool) throws(Refusal) -> (Protection, String?) {
    guard !offers.isEmpty else { return (.none, nil) }
    func offer(_ protection: Protection) -> String? { offers.first { $0.lowercased() == protection.rawValue } }
    if let name = offer(.count) { return (.count, name) }
    guard let name = offer(.body) else {
      let list = offers.joined(separator: ", ").shortened.debugDescription
      throw Refusal(reason: "its Digest challenge has an unknown qop: \(list)")
    }
    guard hasBodyInMemory else {
      throw Refusal(
        reason:
          "its Digest challenge accepts only auth-int, which needs a hash of the body, but the body is not in memory")
    }
    return (.body, name)
  }

  /// Returns the target prefixes in `domain` that belong to `origin`, or `nil` if `domain` is empty and covers the
  /// entire origin (RFC 7616 §3.3). Returns an empty array if `domain` is longer than `limit` bytes.
  private static func prefixes(_ domain: String, of origin: Origin, atMost limit: Int) -> [String]? {
    guard domain.utf8.count <= limit else { return [] }
    let written = domain.split(separator: " ").map(String.init)
    if written.isEmpty { return nil }
    return written.compactMap { prefix in
      if prefix.hasPrefix("/") { return prefix }
      guard let url = URL(string: prefix), Origin(url) == origin else { return nil }
      return url.requestTarget
    }
  }

  func covers(_ target: String) -> Bool { domain?.contains { target.hasPrefix($0) } ?? true }
}

/// The algorithm of a challenge: its hash function, and how it hashes the password (RFC 7616 §3.3 and §3.4.2).
enum DigestAlgorithm: String, Sendable {
  case md5 = "MD5"
  case md5Session = "MD5-sess"
  case sha256 = "SHA-256"
  case sha256Session = "SHA-256-sess"

  init?(_ name: String) {
    let known = [Self.md5, .md5Session, .sha256, .sha256Session]
    guard let algorithm = known.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
    self = algorithm
  }

  /// Whether the secret also depends on the session's nonces.
  var isOfSession: Bool { self == .md5Session || self == .sha256Session }

  private var isSHA256: Bool { self == .sha256 || self == .sha256Session }

  var strength: Int { isSHA256 ? 1 : 0 }

  func hash(_ bytes: [UInt8]) -> String { SHA256.hexadecimal(isSHA256 ? SHA256.hash(bytes) : MD5.hash(bytes)) }

  func hash(_ text: String) -> String { hash(Array(text.utf8)) }
}

extension URL {
  /// The path and the query, as in the request line (RFC 9112 §3.2.1).
  var requestTarget: String {
    let rest = absoluteString.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    let target = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      .prefix { $0 != UInt8(ascii: "#") }
    let text = String(decoding: target, as: UTF8.self)
    return text.hasPrefix("/") ? text : "/" + text
  }
}
