import ErrandFoundation

/// The folder of an ``OfflineQueue``: a file a task, and those that were set aside in a folder of their own. One process at a time has
/// it. Files are made under another name, synchronised, and renamed: what is there is whole.
struct QueueFolder: ~Copyable {
  private static let aside = "set-aside"

  private let url: URL
  private let folder: PrivateFolder
  private let lock: LockedFile

  private init(_ url: URL, _ folder: consuming PrivateFolder, _ lock: LockedFile) {
    self.url = url
    self.folder = folder
    self.lock = lock
  }

  /// Opens the folder, which is made where it is not there, and removes what a killed process has left.
  static func open(_ url: URL) throws -> QueueFolder {
    let folder = try opened(url)
    let queue = QueueFolder(url, folder, try LockedFile("\(url.path)/.lock", of: url.path))
    for name in try queue.names() where name.hasSuffix("~") { queue.folder.remove(name) }
    return queue
  }

  private static func opened(_ url: URL) throws -> PrivateFolder {
    do {
      try PrivateFolder.make(url.appendingPathComponent(aside))
      return try PrivateFolder(url)
    } catch {
      throw TaskError(
        .fileNotWritable, "a queue can't be kept in \(url.path): \(error)", phase: .preparing, underlying: error,
        isSurelyNotSent: true)
    }
  }

  /// The names of the tasks' files, in order.
  func taskNames() throws -> [String] { try names().filter { QueuedTask.number(of: $0) != nil }.sorted() }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path) }

  func read(_ name: String) throws -> Data? { try folder.read(name) }

  func write(_ data: Data, to name: String) throws {
    do {
      try folder.create("\(name)~", data, isSynchronised: true)
      try folder.rename("\(name)~", to: name)
      folder.synchronise()
    } catch {
      folder.remove("\(name)~")
      throw TaskError(
        .fileNotWritable, "a task can't be kept in \(url.path): \(error)", phase: .preparing, underlying: error,
        isSurelyNotSent: true)
    }
  }

  func remove(_ name: String) {
    folder.remove(name)
    folder.synchronise()
  }

  /// Moves a file to where nothing is delivered and nothing removed.
  func setAside(_ name: String) throws {
    var target = "\(Self.aside)/\(name)"
    // Numbers begin anew in a queue that was emptied.
    var number = 2
    while access("\(url.path)/\(target)", F_OK) == 0 {
      target = "\(Self.aside)/\(number)-\(name)"
      number += 1
    }
    try folder.rename(name, to: target)
    folder.synchronise()
  }
}
