/// The header fields by which the responses to different users are kept apart.
final class CacheCredentials: Sendable {
  private struct State {
    /// True for the names of such fields: the rule looks at parts of a name, so its result is kept.
    var names: [HTTPHeaderName: Bool] = [:]
    /// The last credential and its hash: most requests of a server carry the same.
    var last: (secret: String, hash: String)?
  }

  private let redaction: Redaction
  private let state = Lock(State())

  init(_ redaction: Redaction) { self.redaction = redaction }

  /// A hash of the credential in a header; empty where there is none. The secret cannot be read from it.
  ///
  /// - Parameters:
  ///   - headers: The header of the request.
  ///   - account: The account that it will be signed in to, where that is known.
  func hash(of headers: HTTPHeaders, account: String? = nil) -> String {
    var secret = account.map { "account \($0)\n" } ?? ""
    for field in headers where isCredential(field.name) {
      secret += "\(field.name.rawName.lowercased()): \(field.value)\n"
    }
    guard !secret.isEmpty else { return "" }
    if let last = state.withLock({ $0.last }), last.secret == secret { return last.hash }
    let hash = SHA256.hash(Array(secret.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    state.withLock { [secret] in $0.last = (secret, hash) }
    return hash
  }

  /// A header as a response may be chosen by it: without the values of credentials, which the key keeps apart.
  func withoutSecrets(_ headers: HTTPHeaders) -> HTTPHeaders {
    guard headers.contains(where: { isCredential($0.name) }) else { return headers }
    return HTTPHeaders(headers.map { isCredential($0.name) ? .init($0.name, "") : $0 })
  }

  /// True for `Authorization`, `Cookie`, and every field whose value is hidden from people.
  private func isCredential(_ name: HTTPHeaderName) -> Bool {
    if name == .authorization || name == .cookie { return true }
    if let known = state.withLock({ $0.names[name] }) { return known }
    let isSecret = redaction.hidesValue(of: name)
    state.withLock { state in
      if state.names.count >= 200 { state.names = [:] }  // names that an app makes up, without end
      state.names[name] = isSecret
    }
    return isSecret
  }
}
