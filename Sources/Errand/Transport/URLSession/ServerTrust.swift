#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    import Foundation
  #else
    public import Foundation
  #endif

  /// The additional checks that a ``URLSessionTransport`` performs on servers, and its client certificates.
  ///
  /// These checks only restrict trust: the system's own evaluation, including App Transport Security, always comes
  /// first.
  public struct ServerTrust: Sendable {
    /// The public keys that hosts must present. On Linux, requests to pinned hosts are rejected, because URLSession
    /// can't inspect the keys.
    public var pins: PublicKeyPins = [:]

    #if canImport(Darwin)
      /// Returns the client certificate for a host that requests one, or `nil` for none.
      ///
      ///     trust.clientCredential = { host in
      ///       host == "api.example.com" ? URLCredential(identity: identity, certificates: nil, persistence: .none) : nil
      ///     }
      public var clientCredential: (@Sendable (_ host: String) -> URLCredential?)?
    #endif

    /// Creates settings with `pins` and no client certificate.
    public init(pins: PublicKeyPins = [:]) { self.pins = pins }
  }

  #if canImport(Darwin)
    extension ServerTrust {
      /// Returns `nil`, because pins are checked later, during the TLS handshake.
      func refusal(ofHost host: String, adding more: PublicKeyPins) -> TaskError? { nil }
    }
  #else
    extension ServerTrust {
      /// Rejects pinned hosts, because FoundationNetworking does not expose their keys.
      func refusal(ofHost host: String, adding more: PublicKeyPins) -> TaskError? {
        guard pins.union(more).pins(for: host) != nil else { return nil }
        return TaskError(
          .transportUnavailable,
          "URLSession cannot check the pinned keys for \(host) on this platform: use CurlTransport",
          phase: .preparing,
          wasNotSent: true)
      }
    }
  #endif
#endif
