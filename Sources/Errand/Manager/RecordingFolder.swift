import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder of recordings with its index, which sessions and processes share.
///
/// Nothing in it is ever partial, and the index is never behind the files: texts are written under hidden names, then
/// the index is, aside, and renamed, then the texts are renamed. Whoever is killed in between leaves an index that names
/// a hidden text; the next one to look renames it. One session at a time does this, under a lock that the system lets
/// go when a process dies; a folder has one index, for that is what people open, and numbers keep the order of all.
struct RecordingFolder {
  /// What tells a file that was written by somebody else from the one that we wrote.
  private struct Stamp: Equatable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
      #else
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
      #endif
    }
  }

  let url: URL
  private var index = RecordingIndex()
  private var lastNumber = 0
  /// Of the index that we know; nil when it has to be read.
  private var stamp: Stamp?

  private var indexFile: URL { url.appendingPathComponent("index.json") }

  init(_ url: URL) { self.url = url }

  /// Makes the folder, and mends what a killed session has left.
  mutating func open() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try locked { folder in
      try folder.refresh()
      try folder.commit()
    }
  }

  /// Writes recordings, in order, and removes those that are too many.
  mutating func write(_ recordings: [Recording], _ limits: RecordingLimits) throws {
    try locked { folder in
      do {
        try folder.refresh()
        try folder.add(recordings, limits)
      } catch {
        folder.stamp = nil  // what we know may not be what is there
        throw error
      }
    }
  }

  private mutating func add(_ recordings: [Recording], _ limits: RecordingLimits) throws {
    var added: [RecordingEntry] = []
    do {
      for recording in recordings {
        let text = Data(recording.text.utf8)
        lastNumber += 1
        let entry = recording.entry.numbered(lastNumber, name: recording.name, bytes: text.count)
        added.append(entry)
        try text.write(to: partial(entry.number))
        index.append(entry)
      }
      let surplus = index.surplus(limits, at: Date())
      // Before the index: of files without an entry nobody could say whose they are.
      for entry in surplus { remove(url.appendingPathComponent(entry.file)) }
      let last = surplus.last?.number ?? 0
      if last > 0 { index.remove { $0.number <= last } }
      try commit()
    } catch {
      for entry in added { remove(partial(entry.number)) }
      throw error
    }
    // More than fit may have come at once.
    let kept = index.entries.first?.number ?? 0
    for entry in added where entry.number < kept { remove(partial(entry.number)) }
    for entry in added where entry.number >= kept { try publish(entry) }
  }

  private mutating func commit() throws {
    let aside = url.appendingPathComponent(".index.partial")
    do {
      try index.data.write(to: aside)
      try rename(aside, indexFile)
    } catch {
      remove(aside)
      throw error
    }
    stamp = Stamp(indexFile.path)
  }

  /// Reads the index again if somebody else has written it, and finishes what they did not.
  private mutating func refresh() throws {
    if let stamp, stamp == Stamp(indexFile.path) { return }
    // Where there is none there is nothing to know.
    index = RecordingIndex((try? Data(contentsOf: indexFile)) ?? Data())
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: url.path))
    for entry in index.entries where !names.contains(entry.file) {
      if names.contains(partial(entry.number).lastPathComponent) { try publish(entry) }
    }
    let files = try Set(FileManager.default.contentsOfDirectory(atPath: url.path))
    index.remove { !files.contains($0.file) }
    for name in files where name.hasPrefix(".") && name.hasSuffix(".partial") {
      remove(url.appendingPathComponent(name))
    }
    lastNumber = max(lastNumber, index.lastNumber, files.compactMap(Self.number(of:)).max() ?? 0)
  }

  /// The number of a recording, whether or not we know it.
  private static func number(of name: String) -> Int? {
    let digits = name.prefix { $0.isASCII && $0.isNumber }
    return name.dropFirst(digits.count).hasPrefix(". ") && name.hasSuffix(".txt") ? Int(digits) : nil
  }

  private func publish(_ entry: RecordingEntry) throws {
    try rename(partial(entry.number), url.appendingPathComponent(entry.file))
  }

  private func partial(_ number: Int) -> URL {
    url.appendingPathComponent(".\(RecordingEntry.padded(number)).partial")
  }

  private func rename(_ from: URL, _ to: URL) throws {
    guard Foundation.rename(from.path, to.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  private func remove(_ file: URL) {
    unlink(file.path)  // it may be gone, which is what we want
  }

  /// Runs `body` while no other session may.
  private mutating func locked<Result>(_ body: (inout RecordingFolder) throws -> Result) throws -> Result {
    let descriptor = Foundation.open(url.appendingPathComponent(".lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    // Others hold it for a millisecond. One that was stopped while it did must not stop us.
    for _ in 0..<1000 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return try body(&self) }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      usleep(1000)
    }
    throw POSIXError(.ETIMEDOUT)
  }
}
