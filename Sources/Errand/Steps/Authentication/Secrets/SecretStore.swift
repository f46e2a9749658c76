public import ErrandFoundation

/// A place where secrets are kept: ``MemorySecretStore``, ``FileSecretStore``, on Apple platforms the keychain, or one of
/// your own.
public protocol SecretStore: Sendable {
  /// The secret of a name; nil where there is none.
  /// Throws what keeps it from being read.
  func secret(named name: String) async throws -> Data?

  /// Replaces the secret of a name; nil removes it. Others see the old one or the new one, and never a part.
  /// Throws what keeps it from being stored; the old one stays then.
  func setSecret(_ secret: Data?, named name: String) async throws
}

/// Keeps secrets while the process runs.
public final class MemorySecretStore: SecretStore {
  private let secrets = Lock<[String: Data]>([:])

  /// An empty store.
  public init() {}

  /// The secret of a name; nil where there is none.
  public func secret(named name: String) async throws -> Data? { secrets.withLock { $0[name] } }

  /// Replaces the secret of a name; nil removes it.
  public func setSecret(_ secret: Data?, named name: String) async throws { secrets.withLock { $0[name] = secret } }
}
