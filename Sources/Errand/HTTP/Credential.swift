/// A user name and password. Neither appears in the description.
public struct Credential: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The user name.
  public let user: String
  /// The password.
  public let password: String

  /// Creates a credential.
  public init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Whether both the user names and the passwords have the same bytes.
  public static func == (left: Credential, right: Credential) -> Bool {
    left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
  }

  /// A redacted description.
  public var description: String { "Credential(<redacted>)" }

  /// Hides both from `dump`.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Asks the app for a credential to replace a rejected one. Returns `nil` if the app has no other credential.
typealias CredentialRenewal = @Sendable () async -> Credential?
