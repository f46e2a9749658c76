import ErrandFoundation

/// Options for the transport that sends a request.
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
    var additions: Additions?
    var context = TaskContext()
    var onHead: (@Sendable (TransferTimings) -> Void)?
    var showing: (any Sendable)?
  }

  /// Boxed, because most requests don't have these values.
  private final class SignIn: Sendable {
    let headers: Set<HTTPHeaderName>
    let account: String?
    let digest: Credential?
    let signers: [any RequestSigner]

    init(_ headers: Set<HTTPHeaderName>, _ account: String?, _ digest: Credential?, _ signers: [any RequestSigner]) {
      self.headers = headers
      self.account = account
      self.digest = digest
      self.signers = signers
    }
  }

  /// The values that the call has added to the request.
  private final class Additions: Sendable {
    let cookies: String?
    let redirects: [Redirect]
    let fileVersion: FileValidators?

    init(_ cookies: String?, _ redirects: [Redirect], _ fileVersion: FileValidators?) {
      self.cookies = cookies
      self.redirects = redirects
      self.fileVersion = fileVersion
    }
  }

  // Boxed, because options are large and are passed around often.
  private var storage: Storage
  private static let plain = Storage(Values())

  private var values: Values {
    get { storage.values }
    set { storage = Storage(newValue) }
  }

  /// Creates options without timeouts, retries or decoding.
  public init() { storage = Self.plain }

  /// The timeouts of the transfer. The transport enforces `connect`, `firstByte`, `idle` and `attempt`. The call
  /// enforces the other timeouts.
  public var timeouts: Timeouts {
    get { storage.values.timeouts }
    set { values.timeouts = newValue }
  }

  /// Whether the transport can resend a request that the server may have received, if its pooled connection was stale.
  /// Defaults to `false`.
  ///
  /// A transport can always resend a request once if the server reports that it didn't process the request (RFC 9113
  /// §8.7, RFC 9110 §15.5.9).
  public var mayRepeat: Bool {
    get { storage.values.mayRepeat }
    set { values.mayRepeat = newValue }
  }

  /// Whether the transport requests a compressed body and decompresses it. Defaults to `false`.
  public var decodesBody: Bool {
    get { storage.values.decodesBody }
    set { values.decodesBody = newValue }
  }

  /// Whether expensive networks can be used. Defaults to `true`. Only `URLSession` supports this.
  public var allowsExpensiveNetworkAccess: Bool {
    get { storage.values.allowsExpensiveNetworkAccess }
    set { values.allowsExpensiveNetworkAccess = newValue }
  }

  /// Whether networks in Low Data Mode can be used. Defaults to `true`. Only `URLSession` supports this.
  public var allowsConstrainedNetworkAccess: Bool {
    get { storage.values.allowsConstrainedNetworkAccess }
    set { values.allowsConstrainedNetworkAccess = newValue }
  }

  /// Whether a request that is made offline waits for a network. Defaults to `false`. Only `URLSession` supports this.
  public var waitsForConnectivity: Bool {
    get { storage.values.waitsForConnectivity }
    set { values.waitsForConnectivity = newValue }
  }

  /// The time to wait for `100 Continue` (`Expect: 100-continue`, RFC 9110 §10.1.1). After that time, the body is sent
  /// anyway. If `nil`, `Expect` isn't sent. libcurl waits for at most 65 s.
  public var continueTimeout: Duration? {
    get { storage.values.continueTimeout }
    set { values.continueTimeout = newValue }
  }

  /// The credential for the server's Digest challenges (RFC 7616). If `nil`, challenges aren't answered.
  ///
  /// The call answers a challenge by resending the request, so the body must be replayable. Later requests are
  /// authenticated without waiting for a challenge. An existing `Authorization` field is kept. A transport that is used
  /// without a call doesn't answer challenges.
  public var digest: Credential? {
    get { storage.values.digest }
    set { values.digest = newValue }
  }

  /// The credential to use after the proxy rejected the previous one. `nil` until then.
  package var proxyCredential: Credential? {
    get { storage.values.proxyCredential }
    set { values.proxyCredential = newValue }
  }

  var answersDigest: Bool { storage.values.digest != nil }

  /// The header fields that contain credentials set by an ``Authenticator``, in addition to `Authorization`, `Cookie`
  /// and `Proxy-Authorization`. These fields are only sent to the request's origin, and their values are always
  /// redacted.
  public var credentialHeaders: Set<HTTPHeaderName> {
    get { storage.values.signIn?.headers ?? [] }
    set { values.signIn = SignIn(newValue, account, authenticatedDigest, signers) }
  }

  /// The account that the request will be authenticated as, set before authentication. Steps use it to keep accounts
  /// apart. `nil` if the request isn't authenticated.
  package var account: String? {
    get { storage.values.signIn?.account }
    set { values.signIn = SignIn(credentialHeaders, newValue, authenticatedDigest, signers) }
  }

  /// The Digest credential set by an ``Authenticator``.
  var authenticatedDigest: Credential? {
    get { storage.values.signIn?.digest }
    set { values.signIn = SignIn(credentialHeaders, account, newValue, signers) }
  }

  /// The signers whose tokens authenticate the request, in order.
  var signers: [any RequestSigner] {
    get { storage.values.signIn?.signers ?? [] }
    set { values.signIn = SignIn(credentialHeaders, account, authenticatedDigest, newValue) }
  }

  var hasAuthenticatedDigest: Bool { digest != nil && digest == authenticatedDigest }

  /// The public keys that hosts must present.
  public var pins: PublicKeyPins {
    get { storage.values.pins }
    set { values.pins = newValue }
  }

  /// The addresses that connections can use. Transports that don't support this return `false` from
  /// ``Transport/checksAddresses``.
  public var addressPolicy: AddressPolicy {
    get { storage.values.addressPolicy }
    set { values.addressPolicy = newValue }
  }

  /// The `Cookie` value set by a cookie jar, which is refreshed when the request is sent. `nil` if the task set its own
  /// cookies, or if the jar has none.
  package var jarCookies: String? {
    get { storage.values.additions?.cookies }
    set { values.additions = Additions(newValue, redirects, fileVersion) }
  }

  /// The redirects that led to this request, in order.
  var redirects: [Redirect] {
    get { storage.values.additions?.redirects ?? [] }
    set { values.additions = Additions(jarCookies, newValue, fileVersion) }
  }

  /// The version of the call's file in the request's conditions. `nil` if the call has added no conditions.
  var fileVersion: FileValidators? {
    get { storage.values.additions?.fileVersion }
    set { values.additions = Additions(jarCookies, redirects, newValue) }
  }

  /// The values that the task passes to its steps.
  public var context: TaskContext {
    get { storage.values.context }
    set { values.context = newValue }
  }

  /// Called with the timings of the exchange when the response head arrives.
  package var onHead: (@Sendable (TransferTimings) -> Void)? {
    get { storage.values.onHead }
    set { values.onHead = newValue }
  }

  /// The parts of the exchange that a recording transport can include.
  package var showing: (any Sendable)? {
    get { storage.values.showing }
    set { values.showing = newValue }
  }

  /// Whether the body is read at the reader's pace, possibly for a long time. Defaults to `false`.
  public var isLongLived: Bool {
    get { storage.values.isLongLived }
    set { values.isLongLived = newValue }
  }

  /// Returns these options with the changes between `before` and `after` applied.
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
    carry(\.authenticatedDigest)
    carry(\.fileVersion)
    carry(\.pins)
    // The policy's closure can't be compared, but it is the same during the entire call.
    result.addressPolicy = after.addressPolicy
    result.context = after.context  // can't be compared, but is the same during the entire call
    return result
  }
}
