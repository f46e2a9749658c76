import ErrandFoundation

/// A proxy through which requests are sent.
public struct Proxy: Sendable {
  /// The protocol that a proxy uses.
  public enum Kind: String, Sendable, Hashable {
    /// HTTP. Plain http requests are sent to the proxy, and https requests go through a CONNECT tunnel.
    case http
    /// HTTP over TLS. The transport's ``TLSSettings`` also apply to the proxy, except for the client identity.
    case https
    /// SOCKS5. The proxy resolves host names.
    case socks5 = "socks5h"
  }

  /// The protocol of the proxy.
  public var kind: Kind
  /// The host of the proxy.
  public var host: String
  /// The port of the proxy.
  public var port: Int
  /// The credential for the proxy, or `nil` if the proxy doesn't require one.
  public var credential: Credential?
  /// Returns another credential after the proxy has rejected one (407), or `nil` to give up. The argument is the
  /// rejected credential, if any. A ``Server`` calls this closure, up to twice for each request; a transport used
  /// without a server throws ``TaskError/Code/proxyAuthenticationRequired``.
  public var renewCredential: (@Sendable (_ refused: Credential?) async -> Credential?)?

  /// Creates a proxy from its protocol, host and port.
  public init(_ kind: Kind = .http, host: String, port: Int, credential: Credential? = nil) {
    self.kind = kind
    self.host = host
    self.port = port
    self.credential = credential
  }

  /// Creates a proxy from a URL such as `http://user:password@proxy.example.com:3128`, or returns `nil` if it is
  /// invalid.
  ///
  /// The scheme defaults to `http`. The port defaults to 80 for `http`, 443 for `https` and 1080 for SOCKS5.
  public init?(_ text: String) {
    guard let parts = URLComponents(string: text.contains("://") ? text : "http://\(text)"), let host = parts.host,
      !host.isEmpty, parts.port.map({ (1...65_535).contains($0) }) ?? true
    else { return nil }
    switch parts.scheme?.lowercased() {
    case "http": kind = .http
    case "https": kind = .https
    case "socks5", "socks5h", "socks": kind = .socks5
    default: return nil
    }
    self.host = host
    port = parts.port ?? (kind == .socks5 ? 1080 : kind == .https ? 443 : 80)
    credential = parts.user.map { Credential(user: $0, password: parts.password ?? "") }
  }

  /// The URL of the proxy, without its credential.
  public var address: String { "\(kind.rawValue)://\(host):\(port)" }
}
