import Dispatch
public import ErrandFoundation

/// Writes every call to a folder while the program runs: a text file a call, and one page, `index.html`, to look at all of them.
///
///     let log = try HTTPLog(in: folder)
///     await shop.update { $0.recorders.append(log) }
///     print("look at \(log.page.path)")
///
/// Each log has a folder of its own below the one that is given, named after the time and the process; `latest` there links to the newest. The
/// page needs nothing but itself: it has a waterfall of the calls with their attempts and phases, a filter, the details of a call with its flight
/// record, and `curl` commands for copying. Folders are 0700 and files 0600; secrets are hidden as in all that people may read.
///
/// Secrets are hidden, and texts made and written, on a queue of its own: the end of a call waits for none of that.
public final class HTTPLog: CallRecorder {
  private struct State {
    /// The makers of the calls that wait.
    var calls: [@Sendable () -> RecordedCall] = []
    /// About the bytes of the calls that wait.
    var bytes = 0
    /// The number of calls that were taken.
    var count = 0
    /// The bytes that were written.
    var written = 0
    var isWriting = false
    /// The reasons for failures that were told.
    var told: Set<String> = []
    /// The number of calls that could not be written, or found no room.
    var lost = 0
  }

  /// The folder of this log.
  public let folder: URL
  private let limit: Int
  private let maximumSize: Int
  private let log: TextSink
  private let state = Lock(State())
  /// The stretches of time in which calls wait to be written.
  private let rounds = Completion()
  private let writer = DispatchQueue(label: "errand.page", qos: .utility)
  /// Keeps another log from removing the folder.
  private let hold: PrivateFolder

  static let pageName = "index.html"

  /// Begins a log.
  ///
  /// - Parameters:
  ///   - parent: The folder in which it makes its own; `errand-log` with the user's number, below the temporary folder, unless given.
  ///   - limit: The most calls that are written.
  ///   - maximumSize: The bytes after which no more calls are written.
  ///   - runs: The most logs below `parent`, this one among them. The oldest go, but none that a program still writes; nil keeps all.
  ///   - log: Gets a line where writing fails, or a limit was reached.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder cannot be made or written to.
  public init(
    in parent: URL? = nil, limit: Int = 10_000, maximumSize: Int = 1 << 30, runs: Int? = 20,
    log: TextSink = .standardError
  ) throws {
    let parent = parent ?? FileManager.default.temporaryDirectory.appendingPathComponent("errand-log-\(geteuid())")
    let time = Date().formatted(Self.timeFormat).replacing(":", with: ".").replacing("T", with: " ")
    let name = "\(time) \(getpid()) \(UUID().uuidString.prefix(4))"
    folder = parent.appendingPathComponent(name)
    self.limit = limit
    self.maximumSize = maximumSize
    self.log = log
    do {
      try PrivateFolder.make(folder)
      let title = "Calls of \(ProcessInfo.processInfo.processName), \(time)"
      hold = try PrivateFolder(folder)
      hold.hold()
      try hold.create(Self.pageName, LogPage.head(title: title))
      try PrivateFolder(parent).link("latest", to: name)
    } catch {
      throw TaskError(
        .fileNotWritable, "can't write a log to \(folder.path): \(TaskRecorder.words(of: error))", phase: .preparing,
        underlying: error)
    }
    guard let runs else { return }
    DispatchQueue.global(qos: .utility).async { Self.removeOldest(in: parent, keeping: max(1, runs)) }
  }

  private static let timeFormat = Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.standard).time(
    includingFractionalSeconds: false)

  /// The page.
  public var page: URL { folder.appendingPathComponent(Self.pageName) }

  /// The number of calls that are missing: they could not be written, came faster than they could be, or were more than the limit.
  public var lost: Int { state.withLock { $0.lost } }

  /// Adds a call, and returns at once.
  public func record(_ call: RecordedCall) { record(size: call.size, later: { call }) }

  /// Adds a call that is made when it is written.
  public func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) {
    let (refusal, isIdle) = state.withLock { state -> (String?, Bool) in
      guard state.count < limit else {
        state.lost += 1
        return ("it has \(limit) calls, and later ones are not written", false)
      }
      guard state.written < maximumSize else {
        state.lost += 1
        return ("it has \(maximumSize) bytes, and later calls are not written", false)
      }
      guard state.calls.isEmpty || state.bytes + size <= TaskRecorder.room else {
        state.lost += 1
        return ("calls end faster than they can be written, and some are missing", false)
      }
      state.calls.append(make)
      state.bytes += size
      state.count += 1
      if !state.isWriting { rounds.begin() }
      defer { state.isWriting = true }
      return (nil, !state.isWriting)
    }
    if let refusal { fail(refusal) }
    guard isIdle else { return }
    TaskRecorder.beginWriting()
    writeLater()
  }

  /// Returns when all recorded calls are written, or can't be; earlier if the surrounding task is cancelled.
  public func finish() async {
    writer.async { self.writeAll() }  // without waiting for more
    await rounds.wait()
  }

  /// Writes the page to a file, and what it links to into a folder beside it, `calls_files` beside `calls.html`: for others to look at, or to keep.
  /// Calls that are not written yet are not in it.
  ///
  /// - Parameter file: The place of the page; a file that is there is replaced.
  /// - Returns: The folder of the texts.
  /// - Throws: ``TaskError`` with code `.fileNotWritable`.
  @discardableResult
  public func save(to file: URL) throws -> URL {
    let name = "\(file.deletingPathExtension().lastPathComponent)_files"
    let texts = file.deletingLastPathComponent().appendingPathComponent(name)
    do {
      try PrivateFolder.make(texts)
      let source = try PrivateFolder(folder)
      let target = try PrivateFolder(texts)
      // The page first: the texts of all calls in it are there by then.
      let page = LogPage.linking(try source.read(Self.pageName) ?? Data(), to: name)
      for text in try FileManager.default.contentsOfDirectory(atPath: folder.path) where text.hasSuffix(".txt") {
        if let data = try source.read(text) { try target.create(text, data) }
      }
      let partial = try PartialFile(for: file, isPrivate: true)
      do {
        try partial.write(page)
      } catch {
        partial.discard()
        throw error
      }
      try partial.publish()
      return texts
    } catch let error where !(error is TaskError) {
      throw TaskError(
        .fileNotWritable, "can't write the page to \(file.path): \(TaskRecorder.words(of: error))", phase: .finishing,
        underlying: error)
    }
  }

  // MARK: The writer

  /// Writes what waits, until there is nothing or too little to be written for itself.
  private func writeAll() {
    repeat {
      let (calls, first) = taken()
      if !calls.isEmpty { write(calls, from: first) }
    } while hasEnough()
  }

  private func write(_ calls: [@Sendable () -> RecordedCall], from first: Int) {
    var lost = calls.count
    do {
      let folder = try PrivateFolder(folder)
      for start in stride(from: 0, to: calls.count, by: Self.batch) {
        let batch = calls[start..<min(start + Self.batch, calls.count)]
        lost -= written(batch, from: first + start, into: folder)
      }
    } catch {
      fail(TaskRecorder.words(of: error))
    }
    guard lost > 0 else { return }
    state.withLock { $0.lost += lost }
    log.write("the log \(folder.path): \(lost) of \(calls.count) calls could not be written")
  }

  /// The most calls that the page gets at once.
  private static let batch = 100
  /// The milliseconds that a call waits for others: to wake the writer for each costs more than to write it.
  private static let patience = 10

  /// The calls that wait, and the number of the first.
  private func taken() -> ([@Sendable () -> RecordedCall], Int) {
    state.withLock { state in
      defer { (state.calls, state.bytes) = ([], 0) }
      return (state.calls, state.count - state.calls.count + 1)
    }
  }

  /// Whether enough calls wait to be written at once; fewer are written together, later. Without any, ends the waits for them.
  private func hasEnough() -> Bool {
    let (count, hasEnded) = state.withLock { state -> (Int, Bool) in
      guard state.calls.isEmpty else { return (state.calls.count, false) }
      defer { state.isWriting = false }
      return (0, state.isWriting)
    }
    if hasEnded {
      rounds.end()
      TaskRecorder.endWriting()
    }
    if count == 0 || count >= Self.batch || rounds.isAwaited { return count > 0 }
    writeLater()
    return false
  }

  private func writeLater() {
    writer.asyncAfter(deadline: .now() + .milliseconds(Self.patience)) { self.writeAll() }
  }

  /// Writes calls, and returns the number of those that were: one that fails ends no other.
  private func written(
    _ calls: ArraySlice<@Sendable () -> RecordedCall>, from first: Int, into folder: borrowing PrivateFolder
  ) -> Int {
    var blocks = PageJSON(capacity: 2000 * calls.count)
    var text = TextBytes(capacity: 2000)
    var (count, size) = (0, 0)
    var name: (task: String, method: HTTPMethod, file: String)?
    for (index, make) in calls.enumerated() {
      let call = make()
      // Most are like the one before.
      if name?.task != call.task || name?.method != call.method {
        name = (call.task, call.method, RecordingEntry.plain(call.fileName))
      }
      let file = RecordingEntry.file(first + index, plainName: name?.file ?? "")
      text.removeAll()
      let parts = call.write(to: &text)
      do {
        try text.withBytes { bytes in
          try folder.create(file, bytes: bytes)
          blocks.addBlock(of: call, file: file, text: bytes, parts)
        }
        size += text.count
        count += 1
      } catch {
        fail(TaskRecorder.words(of: error))
      }
    }
    defer { state.withLock { [size] in $0.written += size } }
    do {
      // The files are there before the page links to them, and the page has whole blocks alone.
      size += try blocks.withBytes { bytes in
        try folder.append(Self.pageName, bytes)
        return bytes.count
      }
      return count
    } catch {
      fail(TaskRecorder.words(of: error))
      return 0
    }
  }

  private func fail(_ reason: String) {
    // Each once, and not any number: some have a name in them.
    let isFirst = state.withLock { $0.told.count < 20 && $0.told.insert(reason).inserted }
    if isFirst { log.write("the log \(folder.path): \(reason)") }
  }
}
