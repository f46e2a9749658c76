/// A user and a password. Its description shows neither.
public struct Credential: Sendable, Hashable, CustomStringConvertible {
  /// The user.
  public let user: String
  /// The password.
  public let password: String

  /// A user and a password.
  public init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Two credentials are the same when the bytes of user and password are.
  public static func == (left: Credential, right: Credential) -> Bool {
    left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
  }

  /// Nothing that is secret.
  public var description: String { "Credential(<redacted>)" }
}

/// Asks the app for another credential than the one that was refused; `nil` if it has none.
typealias CredentialRenewal = @Sendable () async -> Credential?
