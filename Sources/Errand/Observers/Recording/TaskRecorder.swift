import Dispatch
public import ErrandFoundation

struct Recording: Sendable {
  let text: String
  /// The file's name without its number.
  let name: String
  let entry: RecordingEntry
}

/// Writes each call to a numbered text file, such as `0001. GET Widget.txt`, and maintains an index, `index.json`.
///
/// The recorder writes on its own dispatch queue, so a locked folder never delays a call. Calls are written in batches,
/// in the order in which they ended. Other processes can write between two batches.
package final class TaskRecorder: Sendable {
  private struct Queue {
    var recordings: [Waiting] = []
    /// The approximate size in bytes of the waiting recordings and of those currently being written.
    var bytes = 0
    /// The number of preceding recordings that were dropped. Each of them still uses up a number.
    var skipped = 0
    /// The number of recordings that did not fit in memory or could not be written.
    var lost = 0
    /// The lost recordings that have not been logged yet, by cause.
    var unsaid = (roomless: 0, unwritten: 0)
    var isWriting = false
    var isEnded = false
    /// Whether writing has failed. After a failure has been logged, others are not logged until writing succeeds again.
    var hasFailed = false
    var log = LogOutput.discard
  }

  private struct Waiting {
    let size: Int
    let make: @Sendable () -> Recording
  }

  /// The maximum size of the waiting recordings in bytes. When it is reached, new recordings are dropped.
  package static let room = 64 << 20

  let url: URL
  private let limits: RecordingLimits
  private let queue = Lock(Queue())
  private let folder: Lock<RecordingFolder>
  private let writer = DispatchQueue(label: "errand.recorder", qos: .utility)

  private static let batch = 200
  static let patience = Duration.seconds(10)
  /// The maximum time to wait for the lock after recording has ended, while no other process writes to the folder.
  private let patience: Duration
  /// Tracks each recording from the time it is queued until it is written or lost.
  private let work = Completion()

  /// The maximum time in milliseconds that a process waits for its recordings at exit.
  static let patienceAtExit = 1000

  private static let writers = Lock(0)
  /// Registers an exit handler that waits for the recordings, so that calls made by a short-lived tool are recorded.
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
        .fileNotWritable, "can't write to the recordings folder \(url.path): \(Self.words(of: error))",
        phase: .preparing, underlying: error)
    }
    self.folder = Lock(folder)
  }

  /// Makes the process wait at exit until the matching ``endWriting()``.
  package static func beginWriting() {
    _ = waitsAtExit
    writers.withLock { $0 += 1 }
  }

  package static func endWriting() { writers.withLock { $0 -= 1 } }

  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("errand-recordings-\(UUID().uuidString)")
  }

  /// Queues a call to be written and returns immediately. `size` is the approximate number of bytes that the call
  /// occupies until it is written. Failures are written to `log`. Consecutive failures are logged only once.
  func record(size: Int, log: LogOutput, later make: @escaping @Sendable () -> Recording) {
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

  func end() { queue.withLock { $0.isEnded = true } }

  /// Waits until all queued recordings have been written or lost, or until the surrounding Swift task is cancelled.
  /// Returns the number of lost recordings.
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
      // Another process holds the lock. Keep waiting while that process makes progress.
      let version = folder.withLock { $0.version }
      if version != folderVersion { (folderVersion, lastProgress) = (version, .now) }
      if ContinuousClock.now - lastProgress >= patience { giveUp() }
    }
    Self.endWriting()
  }

  /// Returns the next recordings to write, or `nil` if the queue is empty.
  private func next() -> [Waiting]? {
    let (batch, excess) = queue.withLock { queue -> ([Waiting]?, Int) in
      guard !queue.recordings.isEmpty else {
        queue.isWriting = false
        return (nil, 0)
      }
      // Drop the oldest recordings above the limit before creating their text. They still use up numbers.
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

  /// Writes recordings. If another process holds the lock, queues them again and returns `false`.
  private func write(_ batch: [Waiting]) -> Bool {
    // Create the texts before locking the folder, so that the lock is held only briefly.
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
    say("is delayed: another process has locked it")
  }

  private func succeed(_ batch: [Waiting]) {
    queue.withLock { $0.hasFailed = false }
    sayLosses()
    end(batch, lost: 0)  // must be last, because ``finish()`` must not return before the losses are logged
  }

  private func fail(_ reason: String, _ batch: [Waiting], lost: Int) {
    say("failed: \(reason)")
    end(batch, lost: lost)
  }

  private func end(_ batch: [Waiting], lost: Int) {
    queue.withLock { queue in
      queue.bytes -= batch.reduce(0) { $0 + $1.size }
      queue.skipped = 0
      queue.lost += lost
      queue.unsaid.unwritten += lost
    }
    work.end(batch.count)
  }

  /// Drops the waiting recordings if recording has ended, because a suspended process may hold the lock forever.
  private func giveUp() {
    let dropped = queue.withLock { queue -> [Waiting] in
      guard queue.isEnded else { return [] }
      defer { queue.recordings = [] }
      return queue.recordings
    }
    if !dropped.isEmpty { end(dropped, lost: dropped.count) }
  }

  // MARK: Logging

  private func say(_ failure: String) {
    let log = queue.withLock { queue -> LogOutput? in
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
      log.write("recording to \(url.path) is incomplete because the queue was full (calls dropped: \(unsaid.roomless))")
    }
    if unsaid.unwritten > 0 {
      log.write("recording to \(url.path) is incomplete because of failed writes (calls lost: \(unsaid.unwritten))")
    }
  }

  package static func words(of error: any Error) -> String {
    (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
  }
}

extension Server {
  /// Starts recording every call of the server's manager. See ``TaskManager/recordTaskPath(to:limits:)``.
  ///
  /// - Parameters:
  ///   - folder: The folder to write to. Defaults to a new temporary folder.
  ///   - limits: The limits on stored recordings.
  /// - Returns: The folder.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` if the folder can't be created or written to.
  @discardableResult
  public func recordTaskPath(to folder: URL? = nil, limits: RecordingLimits = RecordingLimits()) throws -> URL {
    try manager.startRecording(to: folder, limits)
  }

  /// Stops recording and returns the number of calls that were not recorded. See
  /// ``TaskManager/endTaskPathRecording()``.
  @discardableResult
  public func endTaskPathRecording() async -> Int { await manager.stopRecording() }

  /// The folder for recordings. `nil` if calls are not being recorded.
  public nonisolated var taskPathURL: URL? { manager.taskPathURL }
}
