#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    import Foundation
  #else
    public import Foundation
  #endif

  /// The checks that a ``URLSessionTransport`` adds to the system's, and the identity that it shows.
  ///
  /// Nothing here makes it trust more: the system's own evaluation, App Transport Security included, always comes first.
  public struct ServerTrust: Sendable {
    /// Keys that hosts must show. On Linux, where URLSession cannot look at them, a request to a pinned host is refused.
    public var pins: PublicKeyPins = [:]

    #if canImport(Darwin)
      /// The client certificate for a host that asks for one; nil for none.
      ///
      ///     trust.clientCredential = { host in
      ///       host == "api.example.com" ? URLCredential(identity: identity, certificates: nil, persistence: .none) : nil
      ///     }
      public var clientCredential: (@Sendable (_ host: String) -> URLCredential?)?
    #endif

    /// The system's trust with `pins`, and no client certificate.
    public init(pins: PublicKeyPins = [:]) { self.pins = pins }
  }

  #if canImport(Darwin)
    extension ServerTrust {
      /// Hosts are judged by what they show, once they do.
      func refusal(ofHost host: String, adding more: PublicKeyPins) -> TaskError? { nil }
    }
  #else
    extension ServerTrust {
      /// A pinned host is refused: FoundationNetworking does not show its keys.
      func refusal(ofHost host: String, adding more: PublicKeyPins) -> TaskError? {
        guard pins.union(more).pins(for: host) != nil else { return nil }
        return TaskError(
          .transportUnavailable, "URLSession cannot check the pinned keys of \(host) on this platform",
          phase: .preparing,
          isSurelyNotSent: true)
      }
    }
  #endif
#endif
