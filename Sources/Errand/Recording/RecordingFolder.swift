import ErrandFoundation

/// A folder of recordings with its index, which sessions and processes share.
///
/// No file is ever partial, and every file is in the index. Texts are written under hidden names, the index is replaced, and the texts are
/// renamed. Only then are old recordings removed, which the index has marked, and it is replaced again: a process that is killed removes no
/// recording before its successor is safe. The next session renames hidden texts that the index names, removes marked files, and drops entries
/// without a file. One session at a time writes, under a lock that the system releases when a process dies.
struct RecordingFolder {
  /// The outcome of writing.
  enum Outcome {
    case written
    /// Another session holds the lock: nothing was written.
    case locked
    /// All but `lost` of them were written, or the old ones could not be removed.
    case incomplete(any Error, lost: Int)
  }

  let url: URL
  private var index = RecordingIndex()
  private var lastNumber = 0
  /// The version of the index that we know; nil when it has to be read.
  private var stamp: PrivateFolder.Stamp?

  /// Tells whether other sessions have written to the folder since an earlier one; nil without an index.
  var version: PrivateFolder.Stamp? { (try? PrivateFolder(url))?.stamp(of: Self.indexName) }

  /// The default time to wait for a lock that others hold, in milliseconds.
  static let patience = 1000

  private static let indexName = "index.json"
  private static let lockName = ".lock"

  init(_ url: URL) { self.url = url }

  /// Makes the folder, and mends what a killed session has left unless others hold the lock.
  mutating func open() throws {
    try PrivateFolder.make(url)
    let folder = try PrivateFolder(url)
    _ = try folder.locked(Self.lockName, patience: 200) { folder in
      try refresh(folder, isNew: true)
      try commit(folder)
    }
  }

  /// Writes recordings, in order, and removes those that are too many.
  ///
  /// - Parameters:
  ///   - recordings: The recordings.
  ///   - skipped: The number of those before them that were too many from the start: they have numbers all the same.
  ///   - limits: How many are kept.
  ///   - patience: The most milliseconds to wait for others.
  mutating func write(
    _ recordings: [Recording], after skipped: Int = 0, _ limits: RecordingLimits, patience: Int = Self.patience
  ) throws -> Outcome {
    let folder = try PrivateFolder(url)
    do {
      return try folder.locked(Self.lockName, patience: patience) { folder in
        try refresh(folder)
        return try add(recordings, after: skipped, limits, to: folder)
      } ?? .locked
    } catch {
      stamp = nil  // what we know may not be what is there
      throw error
    }
  }

  private mutating func add(
    _ recordings: [Recording], after skipped: Int, _ limits: RecordingLimits, to folder: borrowing PrivateFolder
  ) throws -> Outcome {
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
        problem = problem ?? error  // one that cannot be written does not keep the others
      }
    }
    var lost = recordings.count - added.count
    let surplus = index.surplus(limits, at: Date())
    let last = surplus.last?.number ?? 0
    // More than fit may have come at once.
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

  /// Removes the marked files and their entries, the files first: a file without an entry could be anyone's. Returns whether it removed any.
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

  /// Reads the index again if others have written it, and finishes what they did not.
  private mutating func refresh(_ folder: borrowing PrivateFolder, isNew: Bool = false) throws {
    if let stamp, stamp == folder.stamp(of: Self.indexName) { return }
    index = try Self.index(in: folder, isNew: isNew, knowing: index)
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: url.path))
    var missing: Set<String> = []
    for entry in index.entries where !names.contains(entry.file) {
      do {
        try publish(entry, in: folder)
      } catch {
        missing.insert(entry.file)  // it was never written, or cannot have that name
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

  /// The index of the folder; empty where there is none, or a link in its place, which is replaced.
  /// Throws where it cannot be read, and where it is another program's and the folder is new to us.
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
    // One that was edited by hand begins as ours do. Nothing of it is lost.
    guard data.first == UInt8(ascii: "[") || !isNew else { throw PrivateFolder.Refusal.anothers(indexName) }
    try folder.rename(indexName, to: "index.json.bad")
    return RecordingIndex(data)
  }

  private static func partial(_ number: Int) -> String { ".\(RecordingEntry.padded(number)).partial" }

  /// True for the hidden name of a text, or of the index.
  private static func isPartial(_ name: String) -> Bool {
    guard name.hasPrefix("."), name.hasSuffix(".partial") else { return false }
    let middle = name.dropFirst().dropLast(".partial".count)
    return middle == "index" || (middle.utf8.count >= 4 && middle.utf8.allSatisfy { (0x30...0x39).contains($0) })
  }
}
