import Errand
import ErrandFoundation

/// The folder of an ``OfflineQueue``, with one file per task and a subfolder for tasks that were set aside. Files are
/// written under a temporary name, synchronized and renamed, so they are always complete. The folder is locked while
/// the queue is open.
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

  /// Opens the folder, creating it if needed, and removes temporary files left by a killed process.
  static func open(_ url: URL) throws -> QueueFolder {
    let folder = try opened(url)
    let queue = QueueFolder(url, folder, try LockedFile("\(url.path)/.lock", of: url.path))
    for name in try queue.names() where name.hasSuffix("~") && QueuedTask.number(of: String(name.dropLast())) != nil {
      queue.folder.remove(name)
    }
    return queue
  }

  private static func opened(_ url: URL) throws -> PrivateFolder {
    do {
      try PrivateFolder.make(url.appendingPathComponent(aside))
      return try PrivateFolder(url)
    } catch {
      throw TaskError(
        .fileNotWritable, "can't store the queue in \(url.path): \(error)", phase: .preparing, underlying: error,
        wasNotSent: true)
    }
  }

  func taskNames() throws -> [String] { try names().filter { QueuedTask.number(of: $0) != nil }.sorted() }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path) }

  /// Returns the task in a file. Returns `nil` if the file does not contain a task, or is not a regular file owned by
  /// this user. Throws `TaskError` with code `.fileNotWritable` if the file can't be read, because the file may
  /// contain a task.
  func read(_ name: String) throws -> QueuedTask? {
    let data: Data?
    do {
      data = try folder.read(name)
    } catch is PrivateFolder.Refusal {
      return nil
    } catch let error as POSIXError where error.code == .ELOOP {
      return nil  // a symbolic link
    } catch {
      throw TaskError(
        .fileNotWritable, "can't read \(url.path)/\(name): \(error)", phase: .preparing, underlying: error,
        wasNotSent: true)
    }
    guard let data, let task = try? JSONDecoder().decode(QueuedTask.self, from: data),
      task.format == QueuedTask.format, task.fileName == name
    else { return nil }
    return task
  }

  func write(_ data: Data, to name: String) throws {
    do {
      try folder.create("\(name)~", data, isSynchronised: true)
      try folder.rename("\(name)~", to: name)
      folder.synchronise()
    } catch {
      folder.remove("\(name)~")
      throw TaskError(
        .fileNotWritable, "can't store a task in \(url.path): \(error)", phase: .preparing, underlying: error,
        wasNotSent: true)
    }
  }

  func remove(_ name: String) {
    folder.remove(name)
    folder.synchronise()
  }

  func asideFiles() throws -> [URL] {
    let aside = url.appendingPathComponent(Self.aside)
    return try FileManager.default.contentsOfDirectory(atPath: aside.path).sorted()
      .map { aside.appendingPathComponent($0) }
  }

  /// Returns the largest number of any task file, including files set aside. A number is not reused while its file
  /// exists.
  func largestNumber() throws -> Int {
    (try names() + asideFiles().map(\.lastPathComponent)).compactMap { QueuedTask.number(of: $0) }.max() ?? 0
  }

  /// Moves a file to the `set-aside` folder and returns its new name.
  @discardableResult
  func setAside(_ name: String) throws -> String {
    var target = name
    // The name may already exist if a file was copied back into the queue.
    var number = 2
    while access("\(url.path)/\(Self.aside)/\(target)", F_OK) == 0 {
      target = "\(number)-\(name)"
      number += 1
    }
    try folder.rename(name, to: "\(Self.aside)/\(target)")
    folder.synchronise()
    return target
  }
}
