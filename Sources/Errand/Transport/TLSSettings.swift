public import ErrandFoundation

/// A transport's TLS settings: the trusted CAs, the minimum version, the client identity and the verification.
public struct TLSSettings: Sendable {
  /// The trusted certificate authorities.
  public enum Authorities: Sendable, Hashable {
    /// The system's CAs.
    case system
    /// Only the CAs in a PEM file.
    case file(URL)
    /// Only the CAs in PEM text.
    case pem(Data)
  }

  /// A version of TLS.
  public enum Version: Sendable, Hashable {
    /// TLS 1.2.
    case tls1_2
    /// TLS 1.3.
    case tls1_3
  }

  /// How to verify the server's certificate.
  public enum Verification: Sendable, Hashable {
    /// Verifies the host, the validity period and the chain to a trusted CA.
    case full
    /// Performs no verification: anyone on the network path can read and change the traffic. For local tests only.
    case dangerouslyNone
  }

  /// A client certificate and its private key, both in PEM format.
  public struct Identity: Sendable, CustomStringConvertible {
    /// The certificate, optionally followed by intermediate certificates.
    public var certificate: Data
    /// The private key.
    public var key: Data
    /// The password of the key, or `nil` if the key is not encrypted.
    public var password: String?

    /// A description that redacts the certificate, the key and the password.
    public var description: String { "Identity(<redacted>)" }

    /// Creates an identity from a certificate and its key.
    public init(certificate: Data, key: Data, password: String? = nil) {
      self.certificate = certificate
      self.key = key
      self.password = password
    }
  }

  /// The trusted certificate authorities. Defaults to `.system`.
  public var authorities = Authorities.system
  /// The minimum version of TLS. Defaults to `.tls1_2`.
  public var minimumVersion = Version.tls1_2
  /// The client identity for servers that request a certificate. Defaults to `nil`.
  public var identity: Identity?
  /// How to verify the server's certificate. Defaults to `.full`.
  public var verification = Verification.full

  /// Creates settings that trust the system's CAs, require TLS 1.2 or newer, and fully verify certificates.
  public init() {}

  /// Throws if the CA file can't be read.
  func checkAuthorities() throws(TaskError) {
    guard verification != .dangerouslyNone, case .file(let url) = authorities,
      faccessat(AT_FDCWD, url.path, R_OK, AT_EACCESS) != 0
    else { return }
    let words = String(cString: strerror(errno))
    throw TaskError(
      .secureConnectionFailed,
      "\(TaskError.certificatesReason): the CA file \(url.path) cannot be read: \(words)",
      phase: .preparing, wasNotSent: true)
  }
}
