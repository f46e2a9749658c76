public import ErrandFoundation

/// The servers that a transport trusts, and the identity that it shows.
public struct TLSSettings: Sendable {
  /// Certificate authorities that are trusted.
  public enum Authorities: Sendable, Hashable {
    /// Those of the system.
    case system
    /// Those in a PEM file, and no others.
    case file(URL)
    /// Those in PEM text, and no others.
    case pem(Data)
  }

  /// A version of TLS.
  public enum Version: Sendable, Hashable {
    /// TLS 1.2.
    case tls1_2
    /// TLS 1.3.
    case tls1_3
  }

  /// The checks of the server's certificate.
  public enum Verification: Sendable, Hashable {
    /// It must be for the host, in date, and signed by a trusted authority.
    case full
    /// None: anyone on the path can read and change everything. For tests on this machine only.
    case dangerouslyNone
  }

  /// A certificate of one's own and its private key, both PEM.
  public struct Identity: Sendable, CustomStringConvertible {
    /// The certificate, perhaps followed by those that lead to its authority.
    public var certificate: Data
    /// The private key.
    public var key: Data
    /// The password of the key; nil where it is not encrypted.
    public var password: String?

    /// Nothing that is secret.
    public var description: String { "Identity(<redacted>)" }

    /// A certificate and its key.
    public init(certificate: Data, key: Data, password: String? = nil) {
      self.certificate = certificate
      self.key = key
      self.password = password
    }
  }

  /// The certificate authorities that are trusted.
  public var authorities = Authorities.system
  /// The oldest version that is spoken.
  public var minimumVersion = Version.tls1_2
  /// The identity that is shown to a server that asks for a certificate.
  public var identity: Identity?
  /// The checks of the server's certificate.
  public var verification = Verification.full

  /// The system's authorities, TLS 1.2 or newer, everything checked.
  public init() {}

  /// Throws where the file of the authorities cannot be read.
  func checkAuthorities() throws(TaskError) {
    guard verification != .dangerouslyNone, case .file(let url) = authorities,
      faccessat(AT_FDCWD, url.path, R_OK, AT_EACCESS) != 0
    else { return }
    let words = String(cString: strerror(errno))
    throw TaskError(
      .secureConnectionFailed,
      "\(TaskError.certificatesReason): the authorities at \(url.path) cannot be read: \(words)",
      phase: .preparing, isSurelyNotSent: true)
  }
}
