import ErrandFoundation

/// A proxy that requests go through.
public struct Proxy: Sendable {
  /// The protocol that a proxy speaks.
  public enum Kind: String, Sendable, Hashable {
    /// HTTP: plain requests are handed over whole, https goes through a CONNECT tunnel.
    case http
    /// HTTP over TLS; trusted as servers are, by the transport's ``TLSSettings`` but for its identity.
    case https
    /// SOCKS5; the proxy looks up names.
    case socks5 = "socks5h"
  }

  /// The protocol that it speaks.
  public var kind: Kind
  /// Its host.
  public var host: String
  /// Its port.
  public var port: Int
  /// The credential that it requires; nil where it requires none.
  public var credential: Credential?
  /// Returns another credential after the proxy refused one (407), or `nil` to give up. Its argument is the refused credential, if any.
  /// A ``Server`` calls it; a transport used without one throws ``TaskError/Code/proxyAuthenticationRequired``.
  public var renewCredential: (@Sendable (_ refused: Credential?) async -> Credential?)?

  /// A proxy by its kind, host and port.
  public init(_ kind: Kind = .http, host: String, port: Int, credential: Credential? = nil) {
    self.kind = kind
    self.host = host
    self.port = port
    self.credential = credential
  }

  /// A proxy by its URL, such as `http://user:password@proxy.example.com:3128`; nil where that is none.
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

  /// The proxy as a URL without its credential.
  public var address: String { "\(kind.rawValue)://\(host):\(port)" }
}
