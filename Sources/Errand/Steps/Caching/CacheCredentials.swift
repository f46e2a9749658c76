/// Hashes the parts of a request that distinguish the cached responses of different users.
final class CacheCredentials: Sendable {
  private struct State {
    /// Whether fields with a given name are secret. Cached, because the check examines every part of the name.
    var names: [HTTPHeaderName: Bool] = [:]
    /// The last request and its hash. Most requests to a server have the same credential and header fields.
    var last: (subject: Subject, hash: String)?
  }

  private struct Subject: Equatable {
    let headers: HTTPHeaders
    let named: Set<HTTPHeaderName>
    let account: String?
    let digest: Credential?
    let target: CacheKey.Target
  }

  private let redaction: Redaction
  private let state = Lock(State())
  /// The salt for hashes of passwords, new in each process. Without it, passwords could be guessed from their hashes.
  private static let salt = CallRandom.system.key()

  init(_ redaction: Redaction) { self.redaction = redaction }

  /// Returns a hash of everything that separates a request's responses from those of other users, or an empty string if
  /// there is nothing to hash. The secrets can't be recovered from the hash. `target` contains the parts of the target
  /// that are missing from the key's URL.
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

  /// Returns the header for selecting variants. The values of credentials are removed, because they are part of the
  /// key.
  func withoutSecrets(_ headers: HTTPHeaders, named: Set<HTTPHeaderName> = []) -> HTTPHeaders {
    guard headers.contains(where: { isCredential($0, named) }) else { return headers }
    return HTTPHeaders(headers.map { isCredential($0, named) ? .init($0.name, "") : $0 })
  }

  // RFC 7617 §2: the scheme name is case-insensitive.
  private static func holdsPassword(_ value: String) -> Bool { value.prefix(6).lowercased() == "basic " }

  /// Whether a field is a credential, as in ``Redaction/keepsHome(_:named:)``: `Authorization`, `Cookie`, a field that
  /// the request names as a credential, or a field with a secret value, even if the server's redaction shows it.
  private func isCredential(_ field: HTTPHeaders.Field, _ named: Set<HTTPHeaderName>) -> Bool {
    let name = field.name
    if name == .authorization || name == .cookie || named.contains(name) { return true }
    return hasSecretName(name) || Redaction.hasScheme(field)
  }

  private func hasSecretName(_ name: HTTPHeaderName) -> Bool {
    if let known = state.withLock({ $0.names[name] }) { return known }
    let isSecret = redaction.keepsHome(name)
    state.withLock { state in
      if state.names.count >= 200 { state.names = [:] }  // an app may generate field names
      state.names[name] = isSecret
    }
    return isSecret
  }
}
