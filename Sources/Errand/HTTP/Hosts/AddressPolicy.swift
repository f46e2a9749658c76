/// Restricts the IP addresses that connections can use, for servers that fetch URLs supplied by users.
///
///     let preview = try await URLTask(url).addresses(.publicOnly).on(shop).send()
///
/// The policy checks the address of the actual connection, so DNS rebinding, redirects, unusual address literals and
/// Unix sockets can't bypass it. Existing connections are checked again before reuse. If an address is rejected, the
/// host's other addresses are tried.
///
/// If a proxy is used, only the proxy knows the address that a name resolves to. A host that is an IP address is still
/// checked, and host names are rejected. The address of the proxy itself is not checked, because the app chose it.
/// Transports that can't check addresses, such as `URLSession`, reject the request (see ``Transport/checksAddresses``).
public struct AddressPolicy: Sendable {
  private enum Kind {
    case inherited, any, publicOnly, decided
  }

  /// A class, because closures can't be compared.
  private final class Rule: Sendable {
    let decision: @Sendable (PeerAddress, Origin) -> Bool

    init(_ decision: @escaping @Sendable (PeerAddress, Origin) -> Bool) { self.decision = decision }
  }

  /// Identifies a policy. Policies with equal identities allow the same addresses.
  struct Identity: Hashable, Sendable {
    fileprivate let policy: AddressPolicy

    static func == (left: Identity, right: Identity) -> Bool {
      left.policy.kind == right.policy.kind && left.policy.rule === right.policy.rule
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(policy.kind)
      hasher.combine(policy.rule.map { ObjectIdentifier($0) })
    }
  }

  private let kind: Kind
  private let rule: Rule?

  private init(_ kind: Kind, _ rule: Rule? = nil) {
    self.kind = kind
    self.rule = rule
  }

  /// Uses the server's policy.
  public static let inherited = AddressPolicy(.inherited)

  /// Allows every address.
  public static let any = AddressPolicy(.any)

  /// Allows only public addresses (see ``PeerAddress/isPublic``).
  public static let publicOnly = AddressPolicy(.publicOnly)

  /// Allows the addresses for which `decision` returns `true`. The closure runs on a thread shared with other
  /// exchanges, so it must not block.
  ///
  /// - Parameter decision: Returns whether a connection to an address can be used for an origin.
  public static func allowing(
    _ decision: @escaping @Sendable (_ address: PeerAddress, _ origin: Origin) -> Bool
  ) -> AddressPolicy {
    AddressPolicy(.decided, Rule(decision))
  }

  var isInherited: Bool { kind == .inherited }

  var identity: Identity { Identity(policy: self) }

  /// Whether every address is allowed, so no check is needed.
  public var allowsAll: Bool { kind == .any || kind == .inherited }

  /// Whether a connection to `address` can carry a request to `origin`.
  public func allows(_ address: PeerAddress, for origin: Origin) -> Bool {
    switch kind {
    case .inherited, .any: true
    case .publicOnly: address.isPublic
    case .decided: rule?.decision(address, origin) ?? false
    }
  }
}
