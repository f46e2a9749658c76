import Dispatch
public import Errand
public import ErrandFoundation

/// Writes every call to a folder while the program runs: one text file per call, and `index.html`, which shows all
/// calls.
///
///     let log = try HTTPLog(in: folder)
///     await shop.update { $0.recorders.append(log) }
///     print("look at \(log.page.path)")
///
/// Each log creates a subfolder named after the time and the process. The link `latest` points to the newest log. The
/// page is self-contained. It shows a waterfall of calls with their attempts and phases, a filter, each call's details
/// and flight record, and `curl` commands to copy. Folders have mode 0700, files 0600. Secrets are hidden.
///
/// Calls never wait for the log. It uses its own queue to hide secrets, format the text and write the files.
public final class HTTPLog: CallRecorder {
  private struct State {
    /// The closures that create the calls waiting to be written.
    var calls: [@Sendable () -> RecordedCall] = []
    /// The approximate size of the waiting calls, in bytes.
    var bytes = 0
    var count = 0
    var written = 0
    var isWriting = false
    /// The failures that have already been logged.
    var reported: Set<String> = []
    /// The number of calls that could not be written or were rejected.
    var lost = 0
  }

  /// The log's folder.
  public let folder: URL
  private let limit: Int
  private let maximumSize: Int
  private let log: LogOutput
  private let state = Lock(State())
  /// Tracks whether calls are waiting to be written.
  private let rounds = Completion()
  private let writer = DispatchQueue(label: "errand.page", qos: .utility)
  /// Prevents other logs from removing the folder.
  private let hold: PrivateFolder

  static let pageName = "index.html"

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - parent: The folder in which to create the log's folder. Defaults to ``defaultFolder``.
  ///   - limit: The maximum number of calls to write.
  ///   - maximumSize: The maximum size of the log, in bytes. Once it is reached, no more calls are written.
  ///   - runs: The maximum number of logs in `parent`, including this one. The oldest logs are removed, unless a
  ///     program is still writing them. `nil` keeps all logs.
  ///   - log: Receives a line with the page's URL, and a line when writing fails or a limit is reached.
  /// - Throws: `TaskError` with code `.fileNotWritable` if the folder can't be created or written to.
  public init(
    in parent: URL? = nil, limit: Int = 10_000, maximumSize: Int = 1 << 30, runs: Int? = 20,
    log: LogOutput = .standardError
  ) throws {
    let parent = parent ?? Self.defaultFolder
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
    log.write("HTTPLog: \(page.absoluteString)")
    guard let runs else { return }
    DispatchQueue.global(qos: .utility).async { Self.removeOldest(in: parent, keeping: max(1, runs)) }
  }

  /// The default folder for logs: `Library/Logs/Errand` on macOS, `Application Support/Errand` on other Apple platforms,
  /// and `errand` in `$XDG_STATE_HOME` (default `~/.local/state`) elsewhere.
  public static var defaultFolder: URL {
    #if os(macOS)
      return URL.libraryDirectory.appending(path: "Logs/Errand", directoryHint: .isDirectory)
    #elseif canImport(Darwin)
      return URL.applicationSupportDirectory.appending(path: "Errand", directoryHint: .isDirectory)
    #else
      return stateFolder(ProcessInfo.processInfo.environment)
    #endif
  }

  /// Returns the folder for logs according to the XDG Base Directory Specification, which ignores relative paths.
  static func stateFolder(_ environment: [String: String]) -> URL {
    let stated = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
    let base = stated ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/state")
    return base.appendingPathComponent("errand")
  }

  private static let timeFormat = Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.standard).time(
    includingFractionalSeconds: false)

  /// The page's URL.
  public var page: URL { folder.appendingPathComponent(Self.pageName) }

  /// The number of missing calls, which could not be written, arrived too fast, or exceeded a limit.
  public var lost: Int { state.withLock { $0.lost } }

  /// Adds a call and returns immediately.
  public func record(_ call: RecordedCall) { record(size: call.size, later: { call }) }

  /// Adds a call that `make` creates when it is written.
  public func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) {
    let (refusal, isIdle) = state.withLock { state -> (String?, Bool) in
      guard state.count < limit else {
        state.lost += 1
        return ("the limit of \(limit) calls was reached; later calls are not written", false)
      }
      guard state.written < maximumSize else {
        state.lost += 1
        return ("the maximumSize of \(maximumSize) bytes was reached; later calls are not written", false)
      }
      guard state.calls.isEmpty || state.bytes + size <= TaskRecorder.room else {
        state.lost += 1
        return ("calls end faster than they can be written, so some are missing", false)
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

  /// Waits until all recorded calls have been written or have failed. Returns early if the surrounding task is
  /// cancelled.
  public func finish() async {
    writer.async { self.writeAll() }  // skip the delay
    await rounds.wait()
  }

  /// Saves the page to a file, and the call texts to a folder next to it (`calls.html` and `calls_files`), so that you
  /// can share or keep them. Calls that have not been written yet are not included.
  ///
  /// - Parameter file: The location of the page. An existing file is replaced.
  /// - Returns: The folder with the texts.
  /// - Throws: `TaskError` with code `.fileNotWritable` if the page can't be written.
  @discardableResult
  public func save(to file: URL) throws -> URL {
    let name = "\(file.deletingPathExtension().lastPathComponent)_files"
    let texts = file.deletingLastPathComponent().appendingPathComponent(name)
    do {
      try PrivateFolder.make(texts)
      let source = try PrivateFolder(folder)
      let target = try PrivateFolder(texts)
      // Read the page first, because the text files of all calls in it already exist.
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

  /// Writes the waiting calls until too few are left to write at once.
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

  /// The maximum number of calls added to the page at once.
  private static let batch = 100
  /// The delay in milliseconds for collecting more calls, because waking the writer costs more than writing a call.
  private static let patience = 10

  private func taken() -> ([@Sendable () -> RecordedCall], Int) {
    state.withLock { state in
      defer { (state.calls, state.bytes) = ([], 0) }
      return (state.calls, state.count - state.calls.count + 1)
    }
  }

  /// Returns whether enough calls are waiting to be written now. Fewer calls are written after a delay. If no calls are
  /// waiting, lets `finish()` return.
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

  /// Writes calls and returns the number of calls written. If a call can't be written, the others still are.
  private func written(
    _ calls: ArraySlice<@Sendable () -> RecordedCall>, from first: Int, into folder: borrowing PrivateFolder
  ) -> Int {
    var blocks = PageJSON(capacity: 2000 * calls.count)
    var text = TextBytes(capacity: 2000)
    var (count, size) = (0, 0)
    var name: (task: String, method: HTTPMethod, file: String)?
    for (index, make) in calls.enumerated() {
      let call = make()
      // Reuse the name: most calls are like the previous one.
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
      // Append to the page last and in one piece, so that its blocks are complete and its links work.
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
    // Log each reason once, and limit the number of reasons, because some contain a file name.
    let isFirst = state.withLock { $0.reported.count < 20 && $0.reported.insert(reason).inserted }
    if isFirst { log.write("the log \(folder.path): \(reason)") }
  }
}
