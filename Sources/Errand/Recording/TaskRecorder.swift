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
/// It writes on a dispatch queue of its own, and no call waits for it: a folder that others lock
/// delays nothing but the recordings. Calls that end at the same time are written together, in the order in which they
/// ended.
final class TaskRecorder: Sendable {
  private struct Queue {
    var recordings: [Waiting] = []
    /// About the bytes of these and of those that are being written.
    var bytes = 0
    /// The number of those before them that were too many, and have numbers all the same.
    var skipped = 0
    /// The number of recordings that found no room.
    var dropped = 0
    var isWriting = false
    var isEnded = false
    /// The waiters for the end of writing.
    var waiters: [Waiter<Void>] = []
    /// True after a failure, which is logged once, until writing succeeds again.
    var hasFailed = false
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

  /// The most milliseconds that a process waits at exit for its recordings.
  static let patienceAtExit = 1000

  /// The number of recorders that write just now.
  private static let writers = Lock(0)
  /// A process that ends waits a second for them, or a tool that makes one call would never have it recorded.
  private static let waitsAtExit: Bool =
    atexit {
      for _ in 0..<patienceAtExit where TaskRecorder.writers.withLock({ $0 }) > 0 { usleep(1000) }
    } == 0

  init(folder url: URL, limits: RecordingLimits) throws {
    self.url = url
    self.limits = limits
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
      guard queue.bytes < Self.room else {
        queue.dropped += 1
        return false
      }
      queue.recordings.append(Waiting(size: size, make: make))
      queue.bytes += size
      defer { queue.isWriting = true }
      return !queue.isWriting
    }
    guard isIdle else { return }
    Self.beginWriting()
    writer.async { self.writeAll(log) }
  }

  /// Ends the recording.
  func end() { queue.withLock { $0.isEnded = true } }

  /// Returns when all that was recorded is written, or cannot be.
  func finish() async {
    // The writer ends by itself: it waits for nothing but a folder's lock, and not for long.
    await answer { waiter in
      queue.withLock { queue -> Void? in
        guard queue.isWriting else { return () }
        queue.waiters.append(waiter)
        return nil
      }
    }
  }

  private func writeAll(_ log: TextSink) {
    while let waiting = next() { write(waiting, log) }
    Self.endWriting()
  }

  /// The recordings to write; nil where there are none, and the waiters are resumed.
  private func next() -> [Waiting]? {
    let (recordings, waiters) = queue.withLock { queue -> ([Waiting], [Waiter<Void>]) in
      let recordings = queue.recordings
      queue.recordings = []
      guard recordings.isEmpty else { return (recordings, []) }
      queue.isWriting = false
      defer { queue.waiters = [] }
      return ([], queue.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return recordings.isEmpty ? nil : recordings
  }

  private func write(_ waiting: [Waiting], _ log: TextSink) {
    // Of more than are kept, the oldest are counted, and neither made nor written.
    let excess = limits.count > 0 ? max(0, waiting.count - limits.count) : 0
    // Made before the folder is locked: other processes wait for it no longer than for the files.
    let recordings = waiting.dropFirst(excess).map { $0.make() }
    let skipped = queue.withLock { $0.skipped } + excess
    var left: [Recording] = []
    var failure: String?
    do {
      switch try folder.withLock({ try $0.write(recordings, after: skipped, limits) }) {
      case .written: break
      case .incomplete(let error): failure = Self.words(of: error)
      case .locked: (left, failure) = (recordings, "another process holds its lock")
      }
    } catch {
      failure = Self.words(of: error)
    }
    settle(waiting, left, after: skipped)
    if let failure { fail(failure, log) } else { succeed(log) }
  }

  /// Ends a try: what was written takes no room any more, and what is left is kept for another, unless the recording has ended.
  private func settle(_ tried: [Waiting], _ left: [Recording], after skipped: Int) {
    queue.withLock { queue in
      queue.bytes -= tried.reduce(0) { $0 + $1.size }
      queue.skipped = left.isEmpty ? 0 : skipped
      guard !left.isEmpty, !queue.isEnded else { return }
      let waiting = left.map { recording in Waiting(size: recording.text.utf8.count) { recording } }
      queue.recordings = waiting + queue.recordings
      queue.bytes += waiting.reduce(0) { $0 + $1.size }
    }
  }

  private func succeed(_ log: TextSink) {
    let dropped = queue.withLock { queue in
      defer { (queue.dropped, queue.hasFailed) = (0, false) }
      return queue.dropped
    }
    if dropped > 0 { log.write("recording to \(url.path): \(dropped) calls found no room and are missing") }
  }

  private func fail(_ reason: String, _ log: TextSink) {
    let isFirst = queue.withLock { queue in
      defer { queue.hasFailed = true }
      return !queue.hasFailed
    }
    if isFirst { log.write("recording to \(url.path) fails: \(reason)") }
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

  /// Stops recording; see ``TaskManager/endTaskPathRecording()``.
  public func endTaskPathRecording() async { await manager.stopRecording() }

  /// The folder of the recordings; nil while calls are not recorded.
  public nonisolated var taskPathURL: URL? { manager.taskPathURL }
}
