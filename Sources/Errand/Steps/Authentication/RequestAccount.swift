import ErrandFoundation

/// Identifies whose responses a request gets: the accounts of its authentication rules, and their token sources.
struct RequestAccount: Sendable, Hashable {
  let name: String
  private let sources: [any CredentialSource]

  init(of request: HTTPRequest, _ rules: [AuthenticationRule]) {
    sources = rules.map { $0.source(for: request) }
    let names = zip(rules, sources).map { $0.account(of: $1) }
    // The lengths separate the accounts, because their names can contain any character.
    name = names.count == 1 ? names[0] : names.map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Whether the app has forgotten the account's tokens. From then on, nothing is sent or stored for the account.
  var isForgotten: Bool { sources.contains { $0.isClosed } }

  /// Whether every source has authenticated the request.
  func hasSigned(_ request: HTTPRequest) -> Bool { sources.elementsEqual(request.options.signers, by: ===) }

  static func == (left: RequestAccount, right: RequestAccount) -> Bool {
    left.name == right.name && left.sources.elementsEqual(right.sources, by: haveSameToken)
  }

  /// Whether the sources of accounts with the same name have the same token. Tasks create a source for each fixed token,
  /// and the account's name contains its hash.
  private static func haveSameToken(_ left: any CredentialSource, _ right: any CredentialSource) -> Bool {
    left === right || !(left.isRefreshable || right.isRefreshable || left.isClosed || right.isClosed)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
