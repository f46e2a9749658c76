public import ErrandFoundation

/// Stores secrets in a folder, each in its own file that only the current user can read.
///
/// Files have mode 0600. The folder gets mode 0700, even if it already existed. Files and folders that belong to other
/// users are rejected, as are world-writable folders. A secret is written to a temporary file, which is then renamed,
/// so a crash leaves either the old or the new secret. Several processes can share a folder.
public struct FileSecretStore: SecretStore {
  private struct Locked: Error, CustomStringConvertible {
    let description = "another process holds its lock"
  }

  /// The time to wait for another process's lock, in milliseconds. A process holds the lock for only a few
  /// milliseconds.
  private static let patience = 2000

  private let folder: URL

  /// Creates a store in a folder, which is created when the first secret is stored. Use a separate folder for the
  /// store.
  public init(folder: URL) { self.folder = folder }

  /// Returns the secret with this name, or `nil` if it is not stored.
  /// Throws ``TaskError`` with code `.authenticationFailed` if the folder or file can't be read or is not trusted.
  @concurrent public func secret(named name: String) async throws -> Data? {
    try Self.explaining("cannot be read", at: folder, .authenticationFailed) {
      guard PrivateFolder.exists(folder) else { return nil }
      return try PrivateFolder(folder).read(Self.file(of: name))
    }
  }

  /// Stores a secret with this name, replacing any previous one. `nil` removes the secret.
  /// Throws ``TaskError`` with code `.fileNotWritable` if the secret can't be stored. In that case, the old secret is
  /// kept.
  @concurrent public func setSecret(_ secret: Data?, named name: String) async throws {
    try Self.explaining("cannot be written", at: folder, .fileNotWritable) {
      guard let secret else {
        guard PrivateFolder.exists(folder) else { return }
        let isRemoved: Void? = try PrivateFolder(folder).locked(".lock", patience: Self.patience) { folder in
          folder.remove(Self.file(of: name))
          folder.remove(".\(Self.file(of: name)).new")
          folder.synchronise()  // so that the secret stays removed after a power failure
        }
        if isRemoved == nil { throw Locked() }
        return
      }
      try PrivateFolder.make(folder)
      let folder = try PrivateFolder(folder)
      try folder.closeToOthers()
      // Always use the same temporary name, so that the next secret replaces a file left behind by a crash.
      let aside = ".\(Self.file(of: name)).new"
      let isStored: Void? = try folder.locked(".lock", patience: Self.patience) { folder in
        try folder.create(aside, secret, isSynchronised: true)
        do {
          try folder.rename(aside, to: Self.file(of: name))
        } catch {
          folder.remove(aside)
          throw error
        }
        folder.synchronise()
      }
      if isStored == nil { throw Locked() }
    }
  }

  /// Names can contain any character, so files are named by hash.
  private static func file(of name: String) -> String { SHA256.hexadecimal(of: name) }

  private static func explaining<Result>(
    _ problem: String, at folder: URL, _ code: TaskError.Code, _ work: () throws -> Result
  ) throws -> Result {
    do {
      return try work()
    } catch {
      throw TaskError(
        code, "the secrets folder \(folder.path) \(problem): \(error)", phase: .authenticating, underlying: error)
    }
  }
}
