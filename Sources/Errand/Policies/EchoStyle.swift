/// Whether an exchange is echoed.
public enum EchoStyle: Sendable, Hashable {
  /// As the server says.
  case inherited
  /// Not at all.
  case none
  /// Request and response, redacted.
  case full
}
