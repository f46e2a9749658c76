import ErrandFoundation

/// A folder of recordings and its index, shared by sessions and processes.
///
/// Visible recordings are complete, and each one is in the index. To add recordings, a session writes them under hidden
/// names, replaces the index, and renames them. Then it removes old recordings, which are marked in the index, and
/// replaces the index again. Even if the process is killed, no old recording is removed before the new ones are stored.
/// The next session renames hidden files that are in the index, removes marked files, and drops entries without a file.
/// Only one session writes at a time. It holds a lock that the system releases when the process dies.
struct RecordingFolder {
  enum WriteResult {
    case written
    /// Another session holds the lock. Nothing was written.
    case locked
    /// An error occurred. `lost` recordings were not written. If `lost` is 0, the index could not be updated.
    case incomplete(any Error, lost: Int)
  }

  let url: URL
  private var index = RecordingIndex()
  private var lastNumber = 0
  /// The last known version of the index. `nil` if the index must be read again.
  private var stamp: PrivateFolder.Stamp?

  /// The index's version, which changes when another session writes. `nil` if there is no index.
  var version: PrivateFolder.Stamp? { (try? PrivateFolder(url))?.stamp(of: Self.indexName) }

  /// The default time in milliseconds to wait for the lock.
  static let patience = 1000

  private static let indexName = "index.json"
  private static let lockName = ".lock"

  init(_ url: URL) { self.url = url }

  /// Creates the folder. Unless another session holds the lock, finishes the work of a killed session.
  mutating func open() throws {
    try PrivateFolder.make(url)
    let folder = try PrivateFolder(url)
    _ = try folder.locked(Self.lockName, patience: 200) { folder in
      try refresh(folder, isNew: true)
      try commit(folder)
    }
  }

  /// Writes recordings in order and removes those that exceed the limits. `skipped` is the number of preceding
  /// recordings that were dropped. They still use up numbers. `patience` is the maximum time in milliseconds to wait
  /// for the lock.
  mutating func write(
    _ recordings: [Recording], after skipped: Int = 0, _ limits: RecordingLimits, patience: Int = Self.patience
  ) throws -> WriteResult {
    let folder = try PrivateFolder(url)
    do {
      return try folder.locked(Self.lockName, patience: patience) { folder in
        try refresh(folder)
        return try add(recordings, after: skipped, limits, to: folder)
      } ?? .locked
    } catch {
      stamp = nil  // the folder may have changed
      throw error
    }
  }

  private mutating func add(
    _ recordings: [Recording], after skipped: Int, _ limits: RecordingLimits, to folder: borrowing PrivateFolder
  ) throws -> WriteResult {
    var added: [RecordingEntry] = []
    var problem: (any Error)?
    lastNumber += skipped
    for recording in recordings {
      let text = Data(recording.text.utf8)
      lastNumber += 1
      let entry = recording.entry.numbered(lastNumber, name: recording.name, bytes: text.count)
      do {
        try folder.create(Self.partial(entry.number), text)
        added.append(entry)
        index.append(entry)
      } catch {
        problem = problem ?? error  // continue with the other recordings
      }
    }
    var lost = recordings.count - added.count
    let surplus = index.surplus(limits, at: Date())
    let last = surplus.last?.number ?? 0
    // The batch itself can exceed the limits.
    let (excess, kept) = (added.filter { $0.number <= last }, added.filter { $0.number > last })
    for entry in excess { folder.remove(Self.partial(entry.number)) }
    index.remove { $0.number <= last && $0.number >= added.first?.number ?? .max }
    index.mark(upTo: last)
    do {
      try commit(folder)
    } catch {
      for entry in kept { folder.remove(Self.partial(entry.number)) }
      throw error
    }
    for entry in kept {
      do {
        try publish(entry, in: folder)
      } catch {
        problem = problem ?? error
        lost += 1
      }
    }
    do {
      if removeMarked(in: folder) { try commit(folder) }
    } catch {
      problem = problem ?? error
      stamp = nil
    }
    return problem.map { .incomplete($0, lost: lost) } ?? .written
  }

  /// Removes marked files and their entries. Files are removed first, because a file without an entry could belong to
  /// any program. Returns whether any entries were removed.
  private mutating func removeMarked(in folder: borrowing PrivateFolder) -> Bool {
    let marked = index.entries.filter { $0.isLeaving == true }
    for entry in marked { folder.remove(entry.file) }
    index.remove { $0.isLeaving == true }
    return !marked.isEmpty
  }

  private mutating func commit(_ folder: borrowing PrivateFolder) throws {
    let aside = ".index.partial"
    do {
      try folder.create(aside, index.data)
      try folder.rename(aside, to: Self.indexName)
    } catch {
      folder.remove(aside)
      throw error
    }
    stamp = folder.stamp(of: Self.indexName)
  }

  /// Reads the index again if another session has changed it. Finishes the work that the other session left incomplete.
  private mutating func refresh(_ folder: borrowing PrivateFolder, isNew: Bool = false) throws {
    if let stamp, stamp == folder.stamp(of: Self.indexName) { return }
    index = try Self.index(in: folder, isNew: isNew, knowing: index)
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: url.path))
    var missing: Set<String> = []
    for entry in index.entries where !names.contains(entry.file) {
      do {
        try publish(entry, in: folder)
      } catch {
        missing.insert(entry.file)  // the file was never written, or its name is taken
      }
    }
    if !missing.isEmpty { index.remove { missing.contains($0.file) } }
    _ = removeMarked(in: folder)
    for name in names where Self.isPartial(name) { folder.remove(name) }
    let numbers = names.compactMap(RecordingEntry.number(of:)).filter(RecordingEntry.isPlausible)
    lastNumber = max(lastNumber, index.lastNumber, numbers.max() ?? 0)
  }

  private func publish(_ entry: RecordingEntry, in folder: borrowing PrivateFolder) throws {
    try folder.rename(Self.partial(entry.number), to: entry.file)
  }

  /// Returns the folder's index. Returns an empty index if the file is missing or is a symbolic link, which is later
  /// replaced. Throws if the index can't be read, or if the folder is new and the index belongs to another program.
  private static func index(
    in folder: borrowing PrivateFolder, isNew: Bool, knowing known: RecordingIndex
  ) throws -> RecordingIndex {
    let data: Data
    do {
      data = try folder.read(indexName) ?? Data()
    } catch let error where error is PrivateFolder.Refusal || (error as? POSIXError)?.code == .ELOOP {
      return RecordingIndex()
    }
    if let index = RecordingIndex(data, knowing: known) { return index }
    if data.isEmpty || RecordingIndex.isSound(data) { return RecordingIndex(data) }
    // An index that was edited by hand still starts with '['. Keep a copy of it.
    guard data.first == UInt8(ascii: "[") || !isNew else { throw PrivateFolder.Refusal.anothers(indexName) }
    try folder.rename(indexName, to: "index.json.bad")
    return RecordingIndex(data)
  }

  private static func partial(_ number: Int) -> String { ".\(RecordingEntry.padded(number)).partial" }

  private static func isPartial(_ name: String) -> Bool {
    guard name.hasPrefix("."), name.hasSuffix(".partial") else { return false }
    let middle = name.dropFirst().dropLast(".partial".count)
    return middle == "index" || (middle.utf8.count >= 4 && middle.utf8.allSatisfy { (0x30...0x39).contains($0) })
  }
}
