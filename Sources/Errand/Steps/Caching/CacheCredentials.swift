/// The parts of a request by which the responses to different users are kept apart.
final class CacheCredentials: Sendable {
  private struct State {
    /// True for the names of such fields: the rule looks at parts of a name, so its result is kept.
    var names: [HTTPHeaderName: Bool] = [:]
    /// The last request and its hash: most of a server have the same credential, and the same header.
    var last: (subject: Subject, hash: String)?
  }

  /// The parts of a request that may be credentials.
  private struct Subject: Equatable {
    let headers: HTTPHeaders
    let named: Set<HTTPHeaderName>
    let account: String?
    let digest: Credential?
    let target: CacheKey.Target
  }

  private let redaction: Redaction
  private let state = Lock(State())
  /// Passwords are short enough to be guessed from a hash: theirs are different in every process.
  private static let salt = CallRandom.system.key()

  init(_ redaction: Redaction) { self.redaction = redaction }

  /// A hash of the credential of a request, and of what else keeps its responses apart; empty where there is none. The secret cannot
  /// be read from it.
  ///
  /// - Parameters:
  ///   - headers: The header of the request.
  ///   - named: The fields that the request names as credentials.
  ///   - account: The account that it will be signed in to, where that is known.
  ///   - digest: The credential that answers a challenge. No field of the request shows it yet.
  ///   - target: The parts of the target that the key's URL does not have.
  func hash(
    of headers: HTTPHeaders, named: Set<HTTPHeaderName> = [], account: String? = nil, digest: Credential? = nil,
    target: CacheKey.Target = CacheKey.Target()
  ) -> String {
    let subject = Subject(
      headers: headers, named: named, account: account, digest: digest, target: target)
    if let last = state.withLock({ $0.last }), last.subject == subject { return last.hash }
    let secret = secret(of: subject)
    let hash = secret.isEmpty ? "" : SHA256.hexadecimal(of: secret)
    state.withLock { $0.last = (subject, hash) }
    return hash
  }

  /// The credentials of a request as one text; empty where it has none.
  private func secret(of subject: Subject) -> String {
    var secret = subject.account.map { "account \($0)\n" } ?? ""
    if let digest = subject.digest {
      secret += "digest \(Self.salt) \(digest.user.utf8.count):\(digest.user)\(digest.password)\n"
    }
    if let user = subject.target.user { secret += "user \(Self.salt) \(user)\n" }
    if let host = subject.target.host { secret += "host \(host)\n" }
    for field in subject.headers where isCredential(field, subject.named) {
      let salt = Self.holdsPassword(field.value) ? Self.salt : ""
      secret += "\(field.name.rawName.lowercased()): \(salt)\(field.value)\n"
    }
    return secret
  }

  /// A header as a response may be chosen by it: without the values of credentials, which the key keeps apart.
  func withoutSecrets(_ headers: HTTPHeaders, named: Set<HTTPHeaderName> = []) -> HTTPHeaders {
    guard headers.contains(where: { isCredential($0, named) }) else { return headers }
    return HTTPHeaders(headers.map { isCredential($0, named) ? .init($0.name, "") : $0 })
  }

  // RFC 7617 §2: the scheme in any case, then the user and the password.
  private static func holdsPassword(_ value: String) -> Bool { value.prefix(6).lowercased() == "basic " }

  /// The rule of ``Redaction/keepsHome(_:named:)``: `Authorization`, `Cookie`, every field that the request names as a
  /// credential, and every field whose value is hidden from people, be it shown by the redaction of this server or not.
  private func isCredential(_ field: HTTPHeaders.Field, _ named: Set<HTTPHeaderName>) -> Bool {
    let name = field.name
    if name == .authorization || name == .cookie || named.contains(name) { return true }
    return hasSecretName(name) || Redaction.hasScheme(field)
  }

  private func hasSecretName(_ name: HTTPHeaderName) -> Bool {
    if let known = state.withLock({ $0.names[name] }) { return known }
    let isSecret = redaction.keepsHome(name)
    state.withLock { state in
      if state.names.count >= 200 { state.names = [:] }  // names that an app makes up, without end
      state.names[name] = isSecret
    }
    return isSecret
  }
}
