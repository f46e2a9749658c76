import Dispatch
public import ErrandFoundation

/// A call as it is recorded.
struct Recording: Sendable {
  let text: String
  /// The name of the file, but for its number.
  let name: String
  let entry: RecordingEntry
}

/// Writes each call as a numbered text file, `0001. GET Widget.txt`, and keeps an index of them, `index.json`.
///
/// It writes on its own dispatch queue, and no call waits for it: a folder that others lock delays nothing but the recordings. Calls are
/// written in batches, in the order in which they ended; between two batches other processes get the folder.
final class TaskRecorder: Sendable {
  private struct Queue {
    var recordings: [Waiting] = []
    /// About the bytes of these and of those that are being written.
    var bytes = 0
    /// The number of those before them that were too many, and have numbers all the same.
    var skipped = 0
    /// The number of recordings that found no room, or could not be written.
    var lost = 0
    /// How many of them were not logged yet: those that found no room, and the others.
    var unsaid = (roomless: 0, unwritten: 0)
    var isWriting = false
    var isEnded = false
    /// True after a failure, which is logged once, until writing succeeds again.
    var hasFailed = false
    var log = TextSink.discard
  }

  /// A call that is to be written, and about its bytes.
  private struct Waiting {
    let size: Int
    let make: @Sendable () -> Recording
  }

  /// The bytes of text that wait, or are being written, from which on no more find room.
  static let room = 64 << 20

  let url: URL
  private let limits: RecordingLimits
  private let queue = Lock(Queue())
  private let folder: Lock<RecordingFolder>
  private let writer = DispatchQueue(label: "errand.recorder", qos: .utility)

  /// The number of recordings that are written at once.
  private static let batch = 200
  /// The default of the next.
  static let patience = Duration.seconds(10)
  /// The longest wait for a lock, once the recording has ended, during which no other process writes to the folder.
  private let patience: Duration
  /// Counts recordings: queued ones as begun, written and lost ones as ended.
  private let work = Completion()

  /// The most milliseconds that a process waits at exit for its recordings.
  static let patienceAtExit = 1000

  /// The number of recorders that write just now.
  private static let writers = Lock(0)
  /// A process that ends waits a second for them, or a tool that makes one call would never have it recorded.
  private static let waitsAtExit: Bool =
    atexit {
      for _ in 0..<patienceAtExit where TaskRecorder.writers.withLock({ $0 }) > 0 { usleep(1000) }
    } == 0

  init(folder url: URL, limits: RecordingLimits, patience: Duration = TaskRecorder.patience) throws {
    self.url = url
    self.limits = limits
    self.patience = patience
    var folder = RecordingFolder(url)
    do {
      try folder.open()
    } catch {
      throw TaskError(
        .fileNotWritable, "can't write to the folder for recordings, \(url.path): \(Self.words(of: error))",
        phase: .preparing, underlying: error)
    }
    self.folder = Lock(folder)
  }

  /// From now on the process waits at its exit, until as often ``endWriting()`` was called.
  static func beginWriting() {
    _ = waitsAtExit
    writers.withLock { $0 += 1 }
  }

  static func endWriting() { writers.withLock { $0 -= 1 } }

  /// A folder below the temporary one that no other session has, and whose name cannot be guessed.
  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("errand-recordings-\(UUID().uuidString)")
  }

  /// Queues one call to be written, and returns at once; a failure is written to `log`, once.
  ///
  /// - Parameters:
  ///   - size: About the bytes that it takes until then.
  ///   - log: Where failures are told.
  ///   - make: Makes the recording, once, before it is written.
  func record(size: Int, log: TextSink, later make: @escaping @Sendable () -> Recording) {
    let isIdle = queue.withLock { queue -> Bool in
      guard !queue.isEnded else { return false }
      queue.log = log
      guard queue.bytes < Self.room else {
        queue.lost += 1
        queue.unsaid.roomless += 1
        return false
      }
      queue.recordings.append(Waiting(size: size, make: make))
      queue.bytes += size
      work.begin()
      defer { queue.isWriting = true }
      return !queue.isWriting
    }
    guard isIdle else { return }
    Self.beginWriting()
    writer.async { self.writeAll() }
  }

  /// Ends the recording.
  func end() { queue.withLock { $0.isEnded = true } }

  /// Returns when all recordings so far are written or lost, or when the surrounding task is cancelled.
  ///
  /// - Returns: The number of recordings that are lost.
  @discardableResult
  func finish() async -> Int {
    await work.wait()
    if queue.withLock({ $0.isEnded }) { sayLosses() }
    return queue.withLock { $0.lost }
  }

  private func writeAll() {
    var (folderVersion, lastProgress) = (PrivateFolder.Stamp?.none, ContinuousClock.now)
    while let batch = next() {
      guard !write(batch) else {
        lastProgress = .now
        continue
      }
      // Others hold the lock. While they write it is worth the wait.
      let version = folder.withLock { $0.version }
      if version != folderVersion { (folderVersion, lastProgress) = (version, .now) }
      if ContinuousClock.now - lastProgress >= patience { giveUp() }
    }
    Self.endWriting()
  }

  /// The recordings to write next; nil if the queue is empty.
  private func next() -> [Waiting]? {
    let (batch, excess) = queue.withLock { queue -> ([Waiting]?, Int) in
      guard !queue.recordings.isEmpty else {
        queue.isWriting = false
        return (nil, 0)
      }
      // Of more than are kept, the oldest are counted, and neither made nor written.
      let excess = limits.count > 0 ? max(0, queue.recordings.count - limits.count) : 0
      queue.bytes -= queue.recordings.prefix(excess).reduce(0) { $0 + $1.size }
      queue.skipped += excess
      let batch = Array(queue.recordings.dropFirst(excess).prefix(Self.batch))
      queue.recordings.removeFirst(excess + batch.count)
      return (batch, excess)
    }
    work.end(excess)
    return batch
  }

  /// Writes recordings; false if others hold the lock, and they are queued again.
  private func write(_ batch: [Waiting]) -> Bool {
    // Made before the folder is locked: other processes wait for it no longer than for the files.
    let recordings = batch.map { $0.make() }
    let skipped = queue.withLock { $0.skipped }
    do {
      switch try folder.withLock({ try $0.write(recordings, after: skipped, limits) }) {
      case .written: succeed(batch)
      case .incomplete(let error, let lost): fail(Self.words(of: error), batch, lost: lost)
      case .locked:
        queueAgain(recordings, insteadOf: batch)
        return false
      }
    } catch {
      fail(Self.words(of: error), batch, lost: batch.count)
    }
    return true
  }

  private func queueAgain(_ recordings: [Recording], insteadOf batch: [Waiting]) {
    let made = recordings.map { recording in Waiting(size: recording.text.utf8.count) { recording } }
    queue.withLock { queue in
      queue.recordings = made + queue.recordings
      queue.bytes += made.reduce(0) { $0 + $1.size } - batch.reduce(0) { $0 + $1.size }
    }
    say("is delayed: another process holds its lock")
  }

  private func succeed(_ batch: [Waiting]) {
    queue.withLock { $0.hasFailed = false }
    sayLosses()
    end(batch, lost: 0)  // last: ``finish()`` returns with a complete log
  }

  private func fail(_ reason: String, _ batch: [Waiting], lost: Int) {
    say("fails: \(reason)")
    end(batch, lost: lost)
  }

  /// Ends recordings, which take no room any more.
  private func end(_ batch: [Waiting], lost: Int) {
    queue.withLock { queue in
      queue.bytes -= batch.reduce(0) { $0 + $1.size }
      queue.skipped = 0
      queue.lost += lost
      queue.unsaid.unwritten += lost
    }
    work.end(batch.count)
  }

  /// Drops what waits, once the recording has ended: a process that was stopped may hold the lock for ever.
  private func giveUp() {
    let dropped = queue.withLock { queue -> [Waiting] in
      guard queue.isEnded else { return [] }
      defer { queue.recordings = [] }
      return queue.recordings
    }
    if !dropped.isEmpty { end(dropped, lost: dropped.count) }
  }

  // MARK: The log

  private func say(_ failure: String) {
    let log = queue.withLock { queue -> TextSink? in
      defer { queue.hasFailed = true }
      return queue.hasFailed ? nil : queue.log
    }
    log?.write("recording to \(url.path) \(failure)")
  }

  private func sayLosses() {
    let (unsaid, log) = queue.withLock { queue in
      defer { queue.unsaid = (0, 0) }
      return (queue.unsaid, queue.log)
    }
    if unsaid.roomless > 0 {
      log.write("recording to \(url.path): \(unsaid.roomless) calls found no room and are missing")
    }
    if unsaid.unwritten > 0 {
      log.write("recording to \(url.path): \(unsaid.unwritten) calls could not be written and are missing")
    }
  }

  static func words(of error: any Error) -> String {
    (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
  }
}

extension Server {
  /// Records every call of the server's manager from now on; see ``TaskManager/recordTaskPath(to:limits:)``.
  ///
  /// - Parameters:
  ///   - folder: Where to; a new folder below the temporary one unless given.
  ///   - limits: How many recordings are kept.
  /// - Returns: The folder.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder cannot be made or written to.
  @discardableResult
  public func recordTaskPath(to folder: URL? = nil, limits: RecordingLimits = RecordingLimits()) throws -> URL {
    try manager.startRecording(to: folder, limits)
  }

  /// Stops recording, and returns the number of calls that are missing; see ``TaskManager/endTaskPathRecording()``.
  @discardableResult
  public func endTaskPathRecording() async -> Int { await manager.stopRecording() }

  /// The folder of the recordings; nil while calls are not recorded.
  public nonisolated var taskPathURL: URL? { manager.taskPathURL }
}
