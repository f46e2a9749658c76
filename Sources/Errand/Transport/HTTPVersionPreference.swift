/// Which version of HTTP a transport asks for.
public enum HTTPVersionPreference: Sendable, Hashable {
  /// HTTP/2 where a TLS server offers it (ALPN), else HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
  /// HTTP/2 without asking, also over plain http: the server must be known to speak it.
  case http2PriorKnowledge
}
