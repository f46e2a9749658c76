import Errand
import ErrandFoundation

/// A download's partial file and journal, stored next to the target file. The partial file is locked while it is open.
///
/// The journal never counts more bytes than the file contains. Bytes are written before the journal counts them, and an
/// old version's bytes are removed before the journal describes a new version.
final class DownloadFile {
  /// The number of bytes written between synchronizations. It limits how many bytes a system crash can lose.
  private static let checkpoint: Int64 = 16 << 20

  private let place: TransferPlace
  private let file: LockedFile
  private let madeFolders: [String]
  private let disk: DownloadDisk
  private(set) var journal: DownloadJournal?
  /// The number of contiguous bytes at the start of the file. The download continues after them. 0 if the file is split
  /// into ranges.
  private(set) var length: Int64 = 0
  /// The ranges, with the number of bytes written to each. `nil` if the file is not split.
  private(set) var ranges: DownloadRanges?

  /// Opens the partial file, creating it and its folders if needed.
  /// Throws `TaskError` with code `.transferInUse` or `.fileNotWritable`.
  init(for url: URL, on disk: DownloadDisk = DownloadDisk()) throws {
    place = try TransferPlace(url)
    var status = stat()
    guard stat(url.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw TaskError(
        .fileNotWritable, "\(url.path) is not a regular file; refusing to replace it", phase: .preparing,
        wasNotSent: true)
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
    // After a reboot, record the current boot, so that bytes written from now on can be trusted.
    if let journal = self.journal, present > 0, journal.boot != BootSession.current { try? write(journal) }
  }

  private static func locked(_ place: TransferPlace, _ made: inout [String]) throws -> LockedFile {
    var tries = 0
    while true {
      guard PartialFile.makeFolders(to: place.folder, &made) else { throw place.failure() }
      do {
        return try LockedFile(place.path("part"), of: place.file.path)
      } catch {
        // A failed concurrent download may have removed the folders that it had created.
        tries += 1
        guard access(place.folder, F_OK) != 0, tries < 100 else { throw error }
      }
    }
  }

  /// Removes the partial file and its journal. Throws `TaskError` with code `.transferInUse` if another transfer uses
  /// them.
  static func discard(_ url: URL) throws {
    let place = try TransferPlace(url)
    guard access(place.folder, F_OK) == 0 else { return }
    let lock = try LockedFile(place.path("part"), of: url.path)
    place.remove("journal")
    place.remove("part")
    lock.release()
  }

  var url: URL { place.file }

  var isComplete: Bool { ranges?.isComplete ?? (journal?.total == length) }

  /// The number of bytes present, whether or not they are contiguous.
  var present: Int64 { ranges?.present ?? length }

  /// Discards the current content and starts a new version.
  func begin(_ journal: DownloadJournal) throws {
    ranges = nil
    try cut(to: 0)
    try write(journal)
    place.syncFolder()
  }

  func append(_ data: Data) throws {
    guard disk.put(data, file.descriptor) else {
      let error = place.failure("; the \(length) bytes received so far are kept for the next run")
      // Cut off bytes that were written before the error, because they will be requested again.
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

  func note(total: Int64, digest: String?) throws {
    guard var journal, journal.total != total || (digest != nil && journal.digest != digest) else { return }
    journal.total = total
    if let digest { journal.digest = digest }
    try write(journal)
  }

  /// Records that a response contradicts the journal. Returns whether it is the first such response.
  func doubt() throws -> Bool {
    guard var journal, journal.isDoubtful != true else { return false }
    journal.isDoubtful = true
    try write(journal)
    return true
  }

  /// Synchronizes the file and the journal, so that the bytes written so far survive a system crash.
  func synchronise() throws {
    guard var journal, journal.synced != length || journal.ranges != ranges else { return }
    try reachDisk()
    (journal.synced, journal.ranges) = (length, ranges)
    try write(journal)
  }

  /// Synchronizes the file. If that fails, discards the bytes that may be lost and throws.
  private func reachDisk() throws {
    guard !disk.flush(file.descriptor) else { return }
    let error = place.failure("; data received since the last sync will be downloaded again")
    if let synced = journal?.ranges {
      ranges = synced
      try? stretch(synced)
    } else {
      try? cut(to: min(length, journal?.synced ?? 0))
    }
    throw error
  }

  /// Truncates the file, to remove bytes that do not belong to it.
  func takeBack(to length: Int64) throws {
    guard self.length > length else { return }
    try cut(to: length)
    guard var journal, journal.synced > length else { return }
    journal.synced = length
    try write(journal)
  }

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

  /// Moves the partial file to the target and keeps the mode and owner of the replaced file.
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

  func close() { file.release() }

  func discard() {
    place.remove("journal")
    place.remove("part")
    PartialFile.remove(madeFolders)
    (journal, length, ranges) = (nil, 0, nil)
  }

  /// Returns the default mode of new files. Creates a file to determine the mode, because `umask()` would change it for
  /// all threads.
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
  /// Starts a version that is split into ranges, or splits the missing part of the current version. Extends the file to
  /// its full length without allocating disk blocks, because the length declared by the server may be wrong.
  func split(_ journal: DownloadJournal, into parts: DownloadRanges) throws {
    if parts.present == 0 { try cut(to: 0) } else { try synchronise() }
    var journal = journal
    (journal.ranges, journal.total, journal.synced) = (parts, parts.total, 0)
    try write(journal)
    place.syncFolder()
    do {
      try stretch(parts)
    } catch {
      // The file system does not support files of this length. Keep the contiguous bytes.
      try? cut(to: parts.present)
      (journal.ranges, journal.synced) = (nil, parts.present)
      if parts.present > 0 { try? write(journal) } else { discard() }
      throw error
    }
    (ranges, length) = (parts, 0)
  }

  func append(_ data: Data, to index: Int) throws {
    guard let part = ranges?.parts[index], let position = ranges?.positionOfMark(index) else { return }
    let mark = DownloadRanges.mark(part.count + Int64(data.count))
    // Write the mark last, so that it is never too high if the process is killed in between.
    guard lseek(file.descriptor, off_t(part.next), SEEK_SET) >= 0, disk.put(data, file.descriptor),
      Descriptor.put(mark, into: file.descriptor, at: position)
    else { throw place.failure("; the \(present) bytes received so far are kept for the next run") }
    ranges?.add(data.count, to: index)
    try synchroniseInTime()
  }

  func takeBack(_ index: Int, to count: Int64) throws {
    guard let position = ranges?.positionOfMark(index) else { return }
    ranges?.take(index, back: count)
    let count = ranges?.parts[index].count ?? count  // a failed synchronization may have discarded more bytes
    guard Descriptor.put(DownloadRanges.mark(count), into: file.descriptor, at: position) else { throw place.failure() }
    guard var journal, let synced = journal.ranges?.parts[index].count, synced > count else { return }
    journal.ranges?.take(index, back: count)
    try write(journal)
  }

  /// If all ranges are complete, joins them. The file is then no longer split.
  func settle() throws {
    guard let parts = ranges, parts.isComplete else { return }
    try synchronise()  // must come before the marks are cut off
    guard var journal else { return }
    (journal.ranges, journal.synced) = (nil, parts.total)
    ranges = nil
    try cut(to: parts.total)
    try write(journal)
  }

  /// Restores the ranges of an earlier run. Counts only the bytes that the file contains.
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

  private func stretch(_ parts: DownloadRanges) throws {
    guard disk.stretch(file.descriptor, parts.lengthWithMarks),
      Descriptor.put(parts.marks, into: file.descriptor, at: parts.total)
    else { throw place.failure() }
  }
}
