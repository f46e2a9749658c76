import Foundation

/// A proxy that requests go through.
public struct Proxy: Sendable {
  /// How a proxy is spoken to.
  public enum Kind: String, Sendable, Hashable {
    /// HTTP: plain requests are handed over whole, https goes through a CONNECT tunnel.
    case http
    /// HTTP over TLS.
    case https
    /// SOCKS5; the proxy looks up names.
    case socks5 = "socks5h"
  }

  /// How it is spoken to.
  public var kind: Kind
  /// Its host.
  public var host: String
  /// Its port.
  public var port: Int
  /// What it asks for; nil where it asks for nothing.
  public var credential: Credential?
  /// Asked for another credential after the proxy refused one (407), with the refused one if there was; nil gives up.
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
      !host.isEmpty
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
