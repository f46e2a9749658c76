import Errand
import ErrandFoundation

/// The entries of a recording in progress, stored in an unnamed file. Each entry uses only a few bytes of memory, and
/// the file disappears when the process exits.
struct ReplaySpool: Sendable {
  private final class Handle: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
  }

  /// How an entry was redacted.
  struct Redacted: Sendable {
    let redaction: Redaction
    /// The number of names of ``Errand/Redacted`` properties that were known.
    let learned: Int

    init(by redaction: Redaction, learned: Int) { (self.redaction, self.learned) = (redaction, learned) }
  }

  private struct Place {
    let number: Int
    var offset: Int64
    var count: Int
    /// `nil` for an entry of an earlier recording.
    let redacted: Redacted?
  }

  private let handle: Handle
  private var places: [Place] = []
  private var end: Int64 = 0
  /// The total size of the current entries, in bytes.
  private(set) var size: Int64 = 0

  /// Creates the file in a folder, with the given entries. Other users can't read it.
  init(_ entries: [HTTPArchive.Entry], in folder: URL) throws {
    try PrivateFolder.make(folder)
    let path = "\(folder.path)/.errand-\(UUID().uuidString)"
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(in: folder) }
    unlink(path)
    handle = Handle(descriptor)
    for (number, entry) in entries.enumerated() { try put(entry, number, nil) }
  }

  /// Adds an entry, or replaces the entry with the same number.
  mutating func put(_ entry: HTTPArchive.Entry, _ number: Int, _ redacted: Redacted?) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(entry)
    guard lseek(handle.descriptor, off_t(end), SEEK_SET) >= 0, Descriptor.put(data, into: handle.descriptor) else {
      throw Self.failure()
    }
    let place = Place(number: number, offset: end, count: data.count, redacted: redacted)
    end += Int64(data.count)
    size += Int64(data.count)
    // Search from the end: requests finish in nearly the order in which they were sent.
    var index = places.count
    while index > 0, places[index - 1].number > number { index -= 1 }
    if index > 0, places[index - 1].number == number {
      size -= Int64(places[index - 1].count)
      places[index - 1] = place
    } else {
      places.insert(place, at: index)
    }
  }

  /// Redacts entries again if more names are known than when they were added: the names of a payload become known when
  /// the app decodes it, after its response was recorded.
  mutating func redactAgain() throws {
    let learned = LearnedSecrets.count
    for place in places {
      guard let redacted = place.redacted, redacted.learned != learned else { continue }
      let entry = try JSONDecoder().decode(HTTPArchive.Entry.self, from: read(place))
      try put(entry.redacted(by: redacted.redaction), place.number, Redacted(by: redacted.redaction, learned: learned))
    }
  }

  func write(_ archive: HTTPArchive, to file: URL) throws {
    let partial = try PartialFile(for: file, isPrivate: true)
    do {
      let (head, tail) = try Self.frame(of: archive)
      try partial.write(head)
      for (index, place) in places.enumerated() {
        try partial.write(Data((index == 0 ? "\n" : ",\n").utf8))
        try partial.write(read(place))
      }
      try partial.write(Data("\n".utf8) + tail)
    } catch {
      partial.discard()
      throw error
    }
    try partial.publish()
  }

  private func read(_ place: Place) throws -> Data {
    var data = Data(count: place.count)
    let isRead = data.withUnsafeMutableBytes { bytes in
      var done = 0
      while done < place.count {
        let count = pread(
          handle.descriptor, bytes.baseAddress.map { $0 + done }, place.count - done, off_t(place.offset) + off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
    guard isRead else { throw Self.failure() }
    return data
  }

  /// Returns the parts of an archive before and after its entries.
  private static func frame(of archive: HTTPArchive) throws -> (Data, Data) {
    var empty = archive
    empty.entries = []
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let frame = try encoder.encode(empty)
    // This sequence can't occur inside a string, because quotation marks are escaped there.
    guard let place = frame.firstRange(of: Data(#""entries":["#.utf8)) else { throw failure() }
    return (frame[..<place.upperBound], frame[place.upperBound...])
  }

  private static func failure(in folder: URL? = nil) -> TaskError {
    let words = String(cString: strerror(errno))
    return TaskError(
      .fileNotWritable, "can't store a recording\(folder.map { " in \($0.path)" } ?? ""): \(words)", phase: .finishing)
  }
}
