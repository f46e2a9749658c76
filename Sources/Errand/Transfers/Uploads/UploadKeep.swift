import ErrandFoundation

/// The place where an upload keeps what it knows, for one run at a time: a journal beside the file, or the memory of this process.
enum UploadKeep: Sendable {
  case journal(TransferPlace)
  case memory(UploadMemory)

  /// What an earlier run has begun.
  struct Restored {
    let session: UploadSession
    /// True where the server was not told the length then.
    var isDeferred = false
    /// True where the server may have all.
    let mayBeWhole: Bool
  }

  /// What an earlier run has begun, of the same bytes (of any where there is no stamp) and at the same place; nil for nothing.
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

  /// Keeps what the server has begun.
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

  /// Notes whether the server may have all.
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

  /// Notes that the server knows the length.
  func noteLengthTold() {
    if case .memory(let memory) = self { memory.change { $0.isDeferred = false } }
  }

  func forget() {
    switch self {
    case .journal(let place): place.remove("upload")
    case .memory(let memory): memory.change { $0.session = nil }
    }
  }

  /// The position behind the last byte that was given, which the server cannot be beyond; nil where an earlier program has sent them.
  var given: Int64? {
    if case .memory(let memory) = self { memory.read().given } else { nil }
  }

  /// Notes that bytes up to a position were given.
  func note(given position: Int64) {
    if case .memory(let memory) = self { memory.change { $0.given = max($0.given, position) } }
  }
}

/// What is known of an upload whose bytes are given: for the next run of the same value.
final class UploadMemory: Sendable {
  struct Known: Sendable {
    var session: UploadSession?
    /// The hash of where it goes.
    var identity = ""
    var isDeferred = false
    var mayBeWhole = false
    var given: Int64 = 0
    fileprivate var isTaken = false
  }

  private let known = Lock(Known())

  func read() -> Known { known.withLock { $0 } }

  func change(_ body: (inout Known) -> Void) { known.withLock { body(&$0) } }

  /// Takes the place of the one run that may be.
  /// Throws ``TaskError`` with code `.transferInUse` where another one has it.
  func take(_ name: String) throws {
    let isFirst = known.withLock { known in
      defer { known.isTaken = true }
      return !known.isTaken
    }
    guard isFirst else { throw TransferDesk.inUse(name) }
  }

  func release() { known.withLock { $0.isTaken = false } }
}
