/// The rule for addresses that connections are made to, for a server that fetches what its users name.
///
///     let preview = try await URLTask(url).addresses(.publicOnly).on(shop).download()
///
/// It judges the very address that is connected to, so that no name that changes its mind, no redirect, no odd literal and no
/// Unix socket gets past it. A connection that stands already is judged again before it is used. Where a name has several
/// addresses, the others are tried.
///
/// Behind a proxy only the proxy knows the address: only hosts that are addresses themselves are judged there, and names are
/// refused. The proxy's own address is the app's choice, and not asked about. Transports that cannot ask, `URLSession` for one, refuse
/// the request: ``Transport/checksAddresses``.
public struct AddressPolicy: Sendable {
  private enum Kind {
    case inherited, any, publicOnly, decided
  }

  /// A rule of the app's. Two closures cannot be compared; the rules that hold them can.
  private final class Rule: Sendable {
    let decision: @Sendable (PeerAddress, Origin) -> Bool

    init(_ decision: @escaping @Sendable (PeerAddress, Origin) -> Bool) { self.decision = decision }
  }

  /// The identity of a policy: two that have the same one allow the same addresses.
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

  /// As the server says.
  public static let inherited = AddressPolicy(.inherited)

  /// Every address.
  public static let any = AddressPolicy(.any)

  /// The public ones: ``PeerAddress/isPublic``.
  public static let publicOnly = AddressPolicy(.publicOnly)

  /// Those for which `decision` is true. It is called on a thread that carries other exchanges, and must not wait.
  ///
  /// - Parameter decision: Decides on an address to which the host of an origin leads.
  /// - Returns: The policy.
  public static func allowing(
    _ decision: @escaping @Sendable (_ address: PeerAddress, _ origin: Origin) -> Bool
  ) -> AddressPolicy {
    AddressPolicy(.decided, Rule(decision))
  }

  var isInherited: Bool { kind == .inherited }

  var identity: Identity { Identity(policy: self) }

  /// True where every address is allowed, so that none has to be looked at.
  public var allowsAll: Bool { kind == .any || kind == .inherited }

  /// True when a connection to `address` may carry a request to `origin`.
  public func allows(_ address: PeerAddress, for origin: Origin) -> Bool {
    switch kind {
    case .inherited, .any: true
    case .publicOnly: address.isPublic
    case .decided: rule?.decision(address, origin) ?? false
    }
  }
}
