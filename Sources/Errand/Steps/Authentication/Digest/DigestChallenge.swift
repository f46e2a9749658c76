import ErrandFoundation

/// A challenge of Digest that can be answered (RFC 7616 §3.3).
struct DigestChallenge: Sendable, Equatable {
  /// What the answer covers beside the password, the method and the target.
  enum Protection: String, Sendable {
    /// Nothing: as servers before RFC 2617 ask for it.
    case none
    /// The count of the nonce.
    case count = "auth"
    /// The count of the nonce, and the body.
    case body = "auth-int"
  }

  /// A reason why a challenge is not answered.
  struct Refusal: Error, Equatable {
    let reason: String
  }

  let realm: String
  var nonce: String
  let opaque: String?
  let algorithm: DigestAlgorithm
  /// The algorithm as the challenge spells it, which the answer repeats (RFC 7616 §3.4). `nil` if it has none.
  let statedAlgorithm: String?
  let protection: Protection
  /// The chosen `qop` as the challenge spells it, which the answer repeats. `nil` for no protection.
  let statedProtection: String?
  /// The prefixes of the targets that the credential is for, those of the challenged origin alone; nil for all of them.
  let domain: [String]?
  /// The credential is as good as before, and the nonce has aged.
  let isStale: Bool
  /// The user is named in UTF-8.
  let isUTF8: Bool
  /// The user is named by a hash.
  let hashesUser: Bool

  /// The most bytes of realm, nonce and opaque together: all of them go back with every request. A domain that is longer with them covers
  /// nothing: it would be kept, and looked through for each request.
  static let largestSize = 8 << 10

  /// The challenge of a response that is answered: of those that can be, the one with the strongest algorithm (RFC 7616 §3.7), then
  /// the first.
  ///
  /// - Parameters:
  ///   - headers: The header of the response.
  ///   - origin: The origin of the response.
  ///   - hasBodyInMemory: Whether the body of the request can be hashed.
  /// - Returns: The challenge, or why none of them is answered; nil where the response has none of Digest.
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
    // Some servers send none. Browsers and curl answer with an empty one.
    let realm = challenge.realm ?? ""
    let name = challenge["algorithm"]
    // RFC 7616 §3.3: MD5 where it is left out, and a challenge whose algorithm is not understood is ignored.
    guard let algorithm = DigestAlgorithm(name ?? "MD5") else {
      throw Refusal(
        reason: "its Digest challenge has an algorithm that is not known: \((name ?? "").shortened.debugDescription)")
    }
    let opaque = challenge["opaque"]
    let size = realm.utf8.count + nonce.utf8.count + (opaque?.utf8.count ?? 0)
    guard size <= Self.largestSize else {
      throw Refusal(reason: "its Digest challenge is larger than \(Self.largestSize >> 10) KiB")
    }
    guard [realm, nonce, opaque ?? ""].allSatisfy(\.hasNoControls) else {
      throw Refusal(reason: "its Digest challenge has a control character")
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

  /// The protection that is chosen, and its spelling: `auth`, which needs no body, before `auth-int`.
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
          "its Digest challenge accepts auth-int only, which needs the hash of the body, and the body is not in memory")
    }
    return (.body, name)
  }

  /// The prefixes of an origin's targets in a domain, those of others passed over; nil where it is empty, which is all of the origin
  /// (RFC 7616 §3.3). One of more than `limit` bytes has none.
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

  /// True where a target of the challenged origin is in its protection space.
  func covers(_ target: String) -> Bool { domain?.contains { target.hasPrefix($0) } ?? true }
}

/// The hash of a challenge, and how the password goes into it (RFC 7616 §3.3 and §3.4.2).
enum DigestAlgorithm: String, Sendable {
  case md5 = "MD5"
  case md5Session = "MD5-sess"
  case sha256 = "SHA-256"
  case sha256Session = "SHA-256-sess"

  /// The algorithm of a name in any case; nil for one that is not known.
  init?(_ name: String) {
    let known = [Self.md5, .md5Session, .sha256, .sha256Session]
    guard let algorithm = known.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
    self = algorithm
  }

  /// True where the secret is made anew with each challenge.
  var isOfSession: Bool { self == .md5Session || self == .sha256Session }

  private var isSHA256: Bool { self == .sha256 || self == .sha256Session }

  /// The rank among others.
  var strength: Int { isSHA256 ? 1 : 0 }

  /// A hash in hexadecimal digits.
  func hash(_ bytes: [UInt8]) -> String { SHA256.hexadecimal(isSHA256 ? SHA256.hash(bytes) : MD5.hash(bytes)) }

  /// The hash of a text in UTF-8.
  func hash(_ text: String) -> String { hash(Array(text.utf8)) }
}

extension URL {
  /// The path and the query as the request line has them (RFC 9112 §3.2.1).
  var requestTarget: String {
    let rest = absoluteString.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    let target = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      .prefix { $0 != UInt8(ascii: "#") }
    let text = String(decoding: target, as: UTF8.self)
    return text.hasPrefix("/") ? text : "/" + text
  }
}
