public import ErrandFoundation

/// Keeps secrets in a folder, each in a file of its own that only its owner can read.
///
/// Files are 0600 and the folder 0700, also one that was there; one that belongs to another user, or that everybody can write to, is
/// refused. A secret is written aside and renamed, so that a crash leaves the old one or the new one. Several processes may share a
/// folder.
public struct FileSecretStore: SecretStore {
  private struct Locked: Error, CustomStringConvertible {
    let description = "another process holds its lock"
  }

  /// The most milliseconds that it waits for another process, which holds the lock for a few.
  private static let patience = 2000

  private let folder: URL

  /// A store in a folder, which is made when the first secret is stored. Give it one of its own.
  public init(folder: URL) { self.folder = folder }

  /// The secret of a name; nil where there is none.
  /// Throws ``TaskError`` with code `.authenticationFailed` where folder or file cannot be read, or are not to be trusted.
  @concurrent public func secret(named name: String) async throws -> Data? {
    try Self.explaining("cannot be read", at: folder, .authenticationFailed) {
      guard PrivateFolder.exists(folder) else { return nil }
      return try PrivateFolder(folder).read(Self.file(of: name))
    }
  }

  /// Replaces the secret of a name; nil removes it.
  /// Throws ``TaskError`` with code `.fileNotWritable` where it cannot be stored; the old one stays then.
  @concurrent public func setSecret(_ secret: Data?, named name: String) async throws {
    try Self.explaining("cannot be written", at: folder, .fileNotWritable) {
      guard let secret else {
        guard PrivateFolder.exists(folder) else { return }
        let isRemoved: Void? = try PrivateFolder(folder).locked(".lock", patience: Self.patience) { folder in
          folder.remove(Self.file(of: name))
          folder.remove(".\(Self.file(of: name)).new")
          folder.synchronise()  // it is not to come back with the power
        }
        if isRemoved == nil { throw Locked() }
        return
      }
      try PrivateFolder.make(folder)
      let folder = try PrivateFolder(folder)
      try folder.closeToOthers()
      // One name, so that what a crash has left behind is removed with the next secret.
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

  /// The file of a name, which may have any characters.
  private static func file(of name: String) -> String { SHA256.hexadecimal(of: name) }

  private static func explaining<Result>(
    _ problem: String, at folder: URL, _ code: TaskError.Code, _ work: () throws -> Result
  ) throws -> Result {
    do {
      return try work()
    } catch {
      throw TaskError(
        code, "the folder of secrets \(folder.path) \(problem): \(error)", phase: .authenticating, underlying: error)
    }
  }
}
