import ErrandFoundation

/// The partial file of a download and its journal, beside the file that it becomes; locked while it is open.
///
/// The journal never says more than is in the file: bytes are written before it counts them, and it is about another version only once
/// those of the old one are gone.
final class DownloadFile {
  /// The bytes after which what was written is synchronised with the disk: so many are lost where the system crashes.
  private static let checkpoint: Int64 = 16 << 20

  private let place: TransferPlace
  private let file: LockedFile
  /// The folders that were made for it.
  private let madeFolders: [String]
  private let disk: DownloadDisk
  private(set) var journal: DownloadJournal?
  /// The number of bytes that are there and can be gone on from; 0 where the file comes in ranges.
  private(set) var length: Int64 = 0
  /// The ranges, and what was written of each; nil where the file comes as one.
  private(set) var ranges: DownloadRanges?

  /// Opens what is there, makes what is not, and the folders to it.
  /// Throws ``TaskError`` with code `.transferInUse`, or `.fileNotWritable`.
  init(for url: URL, on disk: DownloadDisk = DownloadDisk()) throws {
    place = try TransferPlace(url)
    var status = stat()
    guard stat(url.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw TaskError(
        .fileNotWritable, "\(url.path) is not a plain file, and is not replaced by one", phase: .preparing,
        isSurelyNotSent: true)
    }
    var made: [String] = []
    do {
      file = try Self.locked(place, &made)
    } catch {
      PartialFile.remove(made)
      throw error
    }
    madeFolders = made
    self.disk = disk
    guard let there = Descriptor.length(of: file.descriptor) else { throw place.failure() }
    let journal = place.read("journal").flatMap { try? JSONDecoder().decode(DownloadJournal.self, from: $0) }
    self.journal = journal
    if let ranges = journal?.ranges {
      try restore(ranges, there)
    } else {
      try cut(to: journal?.usable(of: there, boot: BootSession.current) ?? 0)
    }
    // From here on what is written counts, also where the system was started anew before.
    if let journal = self.journal, present > 0, journal.boot != BootSession.current { try? write(journal) }
  }

  /// The partial file, in folders that are made where they are not there.
  private static func locked(_ place: TransferPlace, _ made: inout [String]) throws -> LockedFile {
    var tries = 0
    while true {
      guard PartialFile.makeFolders(to: place.folder, &made) else { throw place.failure() }
      do {
        return try LockedFile(place.path("part"), of: place.file.path)
      } catch {
        // A download beside this one may have failed, and removed the folders that it had made and this one found.
        tries += 1
        guard access(place.folder, F_OK) != 0, tries < 100 else { throw error }
      }
    }
  }

  /// Removes what is there for a place. Throws ``TaskError`` with code `.transferInUse` where another transfer works on it.
  static func discard(_ url: URL) throws {
    let place = try TransferPlace(url)
    guard access(place.folder, F_OK) == 0 else { return }
    let lock = try LockedFile(place.path("part"), of: url.path)
    place.remove("journal")
    place.remove("part")
    lock.release()
  }

  /// The file that it becomes.
  var url: URL { place.file }

  /// True where all bytes are there.
  var isComplete: Bool { ranges?.isComplete ?? (journal?.total == length) }

  /// The bytes that are there, in whatever order.
  var present: Int64 { ranges?.present ?? length }

  /// Forgets what is there, and begins with another version.
  func begin(_ journal: DownloadJournal) throws {
    ranges = nil
    try cut(to: 0)
    try write(journal)
    place.syncFolder()
  }

  /// Adds bytes at the end.
  func append(_ data: Data) throws {
    guard disk.put(data, file.descriptor) else {
      let error = place.failure("; the \(length) bytes that are there are kept, and a later run goes on from them")
      // Some of them may have been written: those are cut off, for they are asked for again.
      try? cut(to: length)
      throw error
    }
    length += Int64(data.count)
    try synchroniseInTime()
  }

  private func synchroniseInTime() throws {
    let synced = journal?.ranges?.present ?? journal?.synced ?? 0
    if present - synced >= Self.checkpoint { try synchronise() }
  }

  /// Notes the length of the whole, and its digest where one was said.
  func note(total: Int64, digest: String?) throws {
    guard var journal, journal.total != total || (digest != nil && journal.digest != digest) else { return }
    journal.total = total
    if let digest { journal.digest = digest }
    try write(journal)
  }

  /// Notes that a response contradicts the journal. Returns whether it is the first one that does.
  func doubt() throws -> Bool {
    guard var journal, journal.isDoubtful != true else { return false }
    journal.isDoubtful = true
    try write(journal)
    return true
  }

  /// Has what is there survive a crash of the system.
  func synchronise() throws {
    guard var journal, journal.synced != length || journal.ranges != ranges else { return }
    try reachDisk()
    (journal.synced, journal.ranges) = (length, ranges)
    try write(journal)
  }

  /// Has the disk take what was written. Where it fails, what it may have lost is not there any more: it says so once.
  private func reachDisk() throws {
    guard !disk.flush(file.descriptor) else { return }
    let error = place.failure("; what came since the last time that the disk took all is fetched again")
    if let synced = journal?.ranges {
      ranges = synced
      try? stretch(synced)
    } else {
      try? cut(to: min(length, journal?.synced ?? 0))
    }
    throw error
  }

  /// Takes back bytes that turned out to be none of the file's.
  func takeBack(to length: Int64) throws {
    guard self.length > length else { return }
    try cut(to: length)
    guard var journal, journal.synced > length else { return }
    journal.synced = length
    try write(journal)
  }

  /// The SHA-256 of all that is there.
  func sha256() async throws -> String {
    var hash = SHA256()
    guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw place.failure() }
    while true {
      try Task.checkCancellation()
      guard let chunk = Descriptor.bytes(of: file.descriptor, atMost: 1 << 20) else { throw place.failure() }
      if chunk.isEmpty { break }
      hash.update(chunk)
      await Task.yield()
    }
    return SHA256.hexadecimal(hash.finish())
  }

  /// Puts the file in its place, with the mode and the owner of the one that it replaces.
  func publish() throws {
    var old = stat()
    let isThere = stat(place.file.path, &old) == 0
    let mode = try isThere ? 0 : usualMode()
    guard isThere ? PartialFile.adopt(old, file.descriptor) : fchmod(file.descriptor, mode) == 0 else {
      throw place.failure()
    }
    try reachDisk()
    guard rename(place.path("part"), place.file.path) == 0 else { throw place.failure() }
    place.remove("journal")
    place.syncFolder()
  }

  /// Closes the file, for others to open it.
  func close() { file.release() }

  /// Removes what is there, and the folders that were made for it.
  func discard() {
    place.remove("journal")
    place.remove("part")
    PartialFile.remove(madeFolders)
    (journal, length, ranges) = (nil, 0, nil)
  }

  /// The mode that this process gives to new files. It is read off one, for asking the system changes it for all threads.
  private func usualMode() throws -> mode_t {
    let path = place.path("mode")
    unlink(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw place.failure() }
    defer {
      Descriptor.release(descriptor)
      unlink(path)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw place.failure() }
    return status.st_mode & 0o666
  }

  private func cut(to length: Int64) throws {
    guard ftruncate(file.descriptor, off_t(length)) == 0, lseek(file.descriptor, off_t(length), SEEK_SET) >= 0 else {
      throw place.failure()
    }
    self.length = length
  }

  private func write(_ journal: DownloadJournal) throws {
    var journal = journal
    journal.boot = BootSession.current
    try place.write(try JSONEncoder().encode(journal), to: "journal")
    self.journal = journal
  }
}

// MARK: - Ranges

extension DownloadFile {
  /// Begins with a version that comes in ranges, or goes on so with the first of them, which is there as a whole.
  ///
  /// The file has its whole length from now on. It has no blocks of the disk for what has not come: a length is what a server says.
  func split(_ journal: DownloadJournal, into parts: DownloadRanges) throws {
    if parts.present == 0 { try cut(to: 0) } else { try synchronise() }
    var journal = journal
    (journal.ranges, journal.total, journal.synced) = (parts, parts.total, 0)
    try write(journal)
    place.syncFolder()
    do {
      try stretch(parts)
    } catch {
      // The file system has no files of that length: what one stream has left stays as it is.
      try? cut(to: parts.present)
      (journal.ranges, journal.synced) = (nil, parts.present)
      if parts.present > 0 { try? write(journal) } else { discard() }
      throw error
    }
    (ranges, length) = (parts, 0)
  }

  /// Adds bytes to a range, behind those that it has.
  func append(_ data: Data, to index: Int) throws {
    guard let part = ranges?.parts[index], let position = ranges?.positionOfMark(index) else { return }
    let mark = DownloadRanges.mark(part.count + Int64(data.count))
    // The mark comes last: what is killed in between has less than was written.
    guard lseek(file.descriptor, off_t(part.next), SEEK_SET) >= 0, disk.put(data, file.descriptor),
      Descriptor.put(mark, into: file.descriptor, at: position)
    else { throw place.failure("; the \(present) bytes that are there are kept, and a later run goes on from them") }
    ranges?.add(data.count, to: index)
    try synchroniseInTime()
  }

  /// Takes back bytes of a range that turned out to be none of the file's.
  func takeBack(_ index: Int, to count: Int64) throws {
    guard let position = ranges?.positionOfMark(index) else { return }
    ranges?.take(index, back: count)
    let count = ranges?.parts[index].count ?? count  // the disk may have lost more
    guard Descriptor.put(DownloadRanges.mark(count), into: file.descriptor, at: position) else { throw place.failure() }
    guard var journal, let synced = journal.ranges?.parts[index].count, synced > count else { return }
    journal.ranges?.take(index, back: count)
    try write(journal)
  }

  /// Makes a file as any other of one whose ranges are all there.
  func settle() throws {
    guard let parts = ranges, parts.isComplete else { return }
    try synchronise()  // the marks go
    guard var journal else { return }
    (journal.ranges, journal.synced) = (nil, parts.total)
    ranges = nil
    try cut(to: parts.total)
    try write(journal)
  }

  /// Takes up the ranges of an earlier run, as far as the file has them.
  private func restore(_ known: DownloadRanges, _ there: Int64) throws {
    let isSameBoot = BootSession.current != nil && journal?.boot == BootSession.current
    let marks = isSameBoot ? Descriptor.bytes(of: file.descriptor, from: known.total, atMost: 1 << 10) : nil
    guard journal?.format == DownloadJournal.format, journal?.validator?.kind == .eTag, journal?.total == known.total,
      let usable = known.usable(of: there, marks: marks), usable.present > 0
    else {
      journal?.ranges = nil
      return try cut(to: 0)
    }
    ranges = usable
    try stretch(usable)
    try settle()
  }

  /// Gives the file its whole length, and its marks behind that.
  private func stretch(_ parts: DownloadRanges) throws {
    guard disk.stretch(file.descriptor, parts.lengthWithMarks),
      Descriptor.put(parts.marks, into: file.descriptor, at: parts.total)
    else { throw place.failure() }
  }
}
