package import ErrandFoundation

/// Instructions for the transport that carries one request, beside the message itself.
public struct TransferOptions: Sendable {
  private final class Storage: Sendable {
    let values: Values

    init(_ values: Values) { self.values = values }
  }

  private struct Values: Sendable {
    var timeouts = Timeouts()
    var mayRepeat = false
    var decodesBody = false
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var waitsForConnectivity = false
    var isLongLived = false
    var continueTimeout: Duration?
    var digest: Credential?
    var proxyCredential: Credential?
    var signIn: SignIn?
    var pins = PublicKeyPins()
    var addressPolicy = AddressPolicy.any
    var cookies: Cookies?
    var context = TaskContext()
    var onHead: (@Sendable (TransferTimings) -> Void)?
    var showing: (any Sendable)?
  }

  /// The part of most requests that is missing: boxed, so that it costs them one word.
  private final class SignIn: Sendable {
    let headers: Set<HTTPHeaderName>
    let account: String?

    init(_ headers: Set<HTTPHeaderName>, _ account: String?) {
      self.headers = headers
      self.account = account
    }
  }

  /// Boxed for the same reason.
  private final class Cookies: Sendable {
    let line: String?
    let firstURL: URL?

    init(_ line: String?, _ firstURL: URL?) {
      self.line = line
      self.firstURL = firstURL
    }
  }

  // Boxed, for a request is passed through many hands and these are large.
  private var storage: Storage
  private static let plain = Storage(Values())

  private var values: Values {
    get { storage.values }
    set { storage = Storage(newValue) }
  }

  /// No limits, nothing repeated, the body as it was sent.
  public init() { storage = Self.plain }

  /// The time limits of the transfer. A transport enforces `connect`, `firstByte`, `idle` and `attempt`; the others are
  /// enforced before it gets the request.
  public var timeouts: Timeouts {
    get { storage.values.timeouts }
    set { values.timeouts = newValue }
  }

  /// Whether the request may be resent once if it was perhaps read: its pooled connection turned out stale. Defaults to `false`.
  ///
  /// A transport may always resend a request, once, that the server says it did not process (RFC 9113 §8.7, RFC 9110 §15.5.9).
  public var mayRepeat: Bool {
    get { storage.values.mayRepeat }
    set { values.mayRepeat = newValue }
  }

  /// True where the transport asks for a compressed body and hands on the decoded one.
  public var decodesBody: Bool {
    get { storage.values.decodesBody }
    set { values.decodesBody = newValue }
  }

  /// True where networks that cost money by the byte may be used; heeded by URLSession.
  public var allowsExpensiveNetworkAccess: Bool {
    get { storage.values.allowsExpensiveNetworkAccess }
    set { values.allowsExpensiveNetworkAccess = newValue }
  }

  /// True where networks in low-data mode may be used; heeded by URLSession.
  public var allowsConstrainedNetworkAccess: Bool {
    get { storage.values.allowsConstrainedNetworkAccess }
    set { values.allowsConstrainedNetworkAccess = newValue }
  }

  /// True where the request waits for a network while there is none; heeded by URLSession.
  public var waitsForConnectivity: Bool {
    get { storage.values.waitsForConnectivity }
    set { values.waitsForConnectivity = newValue }
  }

  /// The time to wait for the server's consent before the body is sent (`Expect: 100-continue`, RFC 9110 §10.1.1); nil
  /// does not ask. After that time the body is sent without it; libcurl waits for 65 s at most.
  public var continueTimeout: Duration? {
    get { storage.values.continueTimeout }
    set { values.continueTimeout = newValue }
  }

  /// The credential for a Digest challenge of the server (RFC 7616); nil answers none.
  ///
  /// The call answers it: the request goes out again with its body, which must be replayable, and later ones are signed in before they
  /// are challenged. A request with an `Authorization` of its own keeps that. A transport that is used by itself answers nothing.
  public var digest: Credential? {
    get { storage.values.digest }
    set { values.digest = newValue }
  }

  /// The credential for the proxy after it has refused another one; `nil` before that.
  package var proxyCredential: Credential? {
    get { storage.values.proxyCredential }
    set { values.proxyCredential = newValue }
  }

  /// True where there is a credential for a challenge.
  var answersDigest: Bool { storage.values.digest != nil }

  /// The header fields that are credentials, beside `Authorization`, `Cookie` and `Proxy-Authorization`: what an
  /// ``Authenticator`` has set. They stay with the origin of the request, and their values are shown nowhere.
  public var credentialHeaders: Set<HTTPHeaderName> {
    get { storage.values.signIn?.headers ?? [] }
    set { values.signIn = SignIn(newValue, account) }
  }

  /// The account that the request will be signed in to, known before it is: what steps of the call keep apart. Nil where
  /// nothing signs it in.
  package var account: String? {
    get { storage.values.signIn?.account }
    set { values.signIn = SignIn(credentialHeaders, newValue) }
  }

  /// The keys that hosts must show.
  public var pins: PublicKeyPins {
    get { storage.values.pins }
    set { values.pins = newValue }
  }

  /// The rule for addresses that connections are made to. A transport that does not heed it says so:
  /// ``Transport/checksAddresses``.
  public var addressPolicy: AddressPolicy {
    get { storage.values.addressPolicy }
    set { values.addressPolicy = newValue }
  }

  /// The value of `Cookie` that a jar has given, which is renewed when the request is sent; nil where it has given none. Any other
  /// is the task's own.
  package var jarCookies: String? {
    get { storage.values.cookies?.line }
    set { values.cookies = Cookies(newValue, firstURL) }
  }

  /// The URL of the first request, where this one follows redirects.
  package var firstURL: URL? {
    get { storage.values.cookies?.firstURL }
    set { values.cookies = Cookies(jarCookies, newValue) }
  }

  /// The values that the task gave to its steps.
  public var context: TaskContext {
    get { storage.values.context }
    set { values.context = newValue }
  }

  /// Gets the timings of the exchange up to the head of its response; nil where they are not needed.
  package var onHead: (@Sendable (TransferTimings) -> Void)? {
    get { storage.values.onHead }
    set { values.onHead = newValue }
  }

  /// The rules for what a transport that records may show of the exchange; nil where there are none.
  package var showing: (any Sendable)? {
    get { storage.values.showing }
    set { values.showing = newValue }
  }

  /// True where the body will be read at the reader's own pace, perhaps for a long time.
  public var isLongLived: Bool {
    get { storage.values.isLongLived }
    set { values.isLongLived = newValue }
  }

  /// These options with what was changed in `before` to make it `after`.
  func applying(changesFrom before: TransferOptions, to after: TransferOptions) -> TransferOptions {
    guard before.storage !== after.storage else { return self }
    var result = self
    func carry<Value: Equatable>(_ part: WritableKeyPath<TransferOptions, Value>) {
      if before[keyPath: part] != after[keyPath: part] { result[keyPath: part] = after[keyPath: part] }
    }
    carry(\.timeouts)
    carry(\.mayRepeat)
    carry(\.decodesBody)
    carry(\.allowsExpensiveNetworkAccess)
    carry(\.allowsConstrainedNetworkAccess)
    carry(\.waitsForConnectivity)
    carry(\.isLongLived)
    carry(\.continueTimeout)
    carry(\.digest)
    carry(\.credentialHeaders)
    carry(\.account)
    carry(\.pins)
    // Its closure cannot be compared; that of the task is the same for the whole call.
    result.addressPolicy = after.addressPolicy
    result.context = after.context  // its values cannot be compared; those of the task are the same for the whole call
    return result
  }
}
