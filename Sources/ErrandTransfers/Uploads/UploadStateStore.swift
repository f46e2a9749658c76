import Errand
import ErrandFoundation

/// Stores an upload's state in a journal next to the file, or in memory. Used by one run at a time.
enum UploadStateStore: Sendable {
  case journal(TransferPlace)
  case memory(UploadMemory)

  struct Restored {
    let session: UploadSession
    /// Whether the upload was started without sending the length.
    var isDeferred = false
    let mayBeWhole: Bool
  }

  /// Returns the upload of the same content and target that an earlier run started, if any. If `stamp` is `nil`, any
  /// content matches.
  func restored(for dialect: any UploadDialect, _ stamp: FileStamp?, _ identity: String) -> Restored? {
    switch self {
    case .journal(let place):
      guard let journal = Self.journal(at: place), journal.dialect == dialect.name,
        stamp == nil || journal.stamp == stamp, journal.identity == identity
      else { return nil }
      return Restored(session: journal.session, mayBeWhole: journal.mayBeWhole ?? false)
    case .memory(let memory):
      let known = memory.read()
      guard known.identity == identity, let session = known.session else { return nil }
      return Restored(session: session, isDeferred: known.isDeferred, mayBeWhole: known.mayBeWhole)
    }
  }

  private static func journal(at place: TransferPlace) -> UploadJournal? {
    guard let data = place.read("upload"), let journal = try? JSONDecoder().decode(UploadJournal.self, from: data)
    else { return nil }
    return journal.format == UploadJournal.format ? journal : nil
  }

  func remember(
    _ session: UploadSession, for dialect: any UploadDialect, _ stamp: FileStamp?, _ identity: String, isDeferred: Bool
  ) throws {
    switch self {
    case .journal(let place):
      guard let stamp else { return }
      let journal = UploadJournal(dialect: dialect.name, identity: identity, stamp: stamp, session: session)
      try place.write(try JSONEncoder().encode(journal), to: "upload")
      place.syncFolder()
    case .memory(let memory):
      memory.change { known in
        (known.session, known.identity, known.isDeferred, known.mayBeWhole) = (session, identity, isDeferred, false)
      }
    }
  }

  func note(mayBeWhole: Bool) throws {
    switch self {
    case .journal(let place):
      guard var journal = Self.journal(at: place), journal.mayBeWhole ?? false != mayBeWhole else { return }
      journal.mayBeWhole = mayBeWhole
      try place.write(try JSONEncoder().encode(journal), to: "upload")
      place.syncFolder()
    case .memory(let memory): memory.change { $0.mayBeWhole = mayBeWhole }
    }
  }

  func note(location: URL) throws {
    switch self {
    case .journal(let place):
      guard var journal = Self.journal(at: place) else { return }
      journal.session.location = location
      try place.write(try JSONEncoder().encode(journal), to: "upload")
      place.syncFolder()
    case .memory(let memory): memory.change { $0.session?.location = location }
    }
  }

  func noteLengthTold() {
    if case .memory(let memory) = self { memory.change { $0.isDeferred = false } }
  }

  func forget() {
    switch self {
    case .journal(let place): place.remove("upload")
    case .memory(let memory): memory.change { $0.session = nil }
    }
  }

  /// The position after the last byte returned by the closure. The server's position can't be higher. `nil` for a
  /// journal, because an earlier launch may have sent more bytes.
  var given: Int64? {
    if case .memory(let memory) = self { memory.read().given } else { nil }
  }

  func note(given position: Int64) {
    if case .memory(let memory) = self { memory.change { $0.given = max($0.given, position) } }
  }

  /// Adds bytes returned by the closure to the digest of the content. Bytes that were added before are skipped.
  func hash(_ data: Data, at offset: Int64, by checksum: UploadChecksum) {
    guard case .memory(let memory) = self else { return }
    memory.change { known in
      let start = known.hashed - offset
      guard start >= 0, start < data.count else { return }
      var hash = known.hash ?? checksum.hash
      hash.update(data.dropFirst(Int(start)))
      (known.hash, known.hashed) = (hash, offset + Int64(data.count))
    }
  }

  /// The digest of the bytes returned by the closure. `nil` for a journal.
  func contentDigest(by checksum: UploadChecksum) -> Data? {
    if case .memory(let memory) = self { Data((memory.read().hash ?? checksum.hash).finish()) } else { nil }
  }
}

/// The state of an upload whose bytes come from a closure. Kept between runs of the same instance.
final class UploadMemory: Sendable {
  struct Known: Sendable {
    var session: UploadSession?
    var identity = ""
    var isDeferred = false
    var mayBeWhole = false
    var given: Int64 = 0
    /// The hash of the first `hashed` bytes.
    var hash: UploadChecksum.Hash?
    var hashed: Int64 = 0
    fileprivate var isTaken = false
  }

  private let known = Lock(Known())

  func read() -> Known { known.withLock { $0 } }

  func change(_ body: (inout Known) -> Void) { known.withLock { body(&$0) } }

  /// Starts a run. Throws `TaskError` with code `.transferInUse` if another run is active.
  func take(_ name: String) throws {
    let isFirst = known.withLock { known in
      defer { known.isTaken = true }
      return !known.isTaken
    }
    guard isFirst else { throw TransferCoordinator.inUse(name) }
  }

  func release() { known.withLock { $0.isTaken = false } }
}
