public import ErrandFoundation

/// A store for secrets: ``MemorySecretStore``, ``FileSecretStore``, the keychain on Apple platforms, or your own.
public protocol SecretStore: Sendable {
  /// Returns the secret with this name, or `nil` if it is not stored.
  /// Throws an error if the secret can't be read.
  func secret(named name: String) async throws -> Data?

  /// Stores a secret with this name, replacing any previous one. `nil` removes the secret. Readers see either the old
  /// or the new secret, never a partial one.
  /// Throws an error if the secret can't be stored. In that case, the old secret is kept.
  func setSecret(_ secret: Data?, named name: String) async throws
}

/// Keeps secrets in memory until the process ends.
public final class MemorySecretStore: SecretStore {
  private let secrets = Lock<[String: Data]>([:])

  /// Creates an empty store.
  public init() {}

  /// Returns the secret with this name, or `nil` if it is not stored.
  public func secret(named name: String) async throws -> Data? { secrets.withLock { $0[name] } }

  /// Stores a secret with this name, replacing any previous one. `nil` removes the secret.
  public func setSecret(_ secret: Data?, named name: String) async throws { secrets.withLock { $0[name] = secret } }
}
