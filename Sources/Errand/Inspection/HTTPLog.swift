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
/// Texts are made and written on a queue of its own. The end of a call waits for its redaction alone, of bodies up to
/// ``ServerConfiguration/maxLoggedDownloadSize``.
public final class HTTPLog: CallRecorder {
  private struct State {
    var calls: [RecordedCall] = []
    /// About the bytes of the calls that wait.
    var bytes = 0
    /// The number of calls that were taken.
    var count = 0
    var isWriting = false
    var hasFailed = false
    var waiters: [Waiter<Void>] = []
  }

  /// The folder of this log.
  public let folder: URL
  private let limit: Int
  private let log: TextSink
  private let state = Lock(State())
  private let writer = DispatchQueue(label: "errand.page", qos: .utility)

  private static let pageName = "index.html"

  /// Begins a log.
  ///
  /// - Parameters:
  ///   - parent: The folder in which it makes its own; `errand-log` with the user's number, below the temporary folder, unless given.
  ///   - limit: The most calls that are written.
  ///   - log: Gets a line where writing fails, or a limit was reached.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder cannot be made or written to.
  public init(in parent: URL? = nil, limit: Int = 10_000, log: TextSink = .standardError) throws {
    let parent = parent ?? FileManager.default.temporaryDirectory.appendingPathComponent("errand-log-\(geteuid())")
    let time = Date().formatted(Self.timeFormat).replacing(":", with: ".").replacing("T", with: " ")
    let name = "\(time) \(getpid()) \(UUID().uuidString.prefix(4))"
    folder = parent.appendingPathComponent(name)
    self.limit = limit
    self.log = log
    do {
      try PrivateFolder.make(folder)
      let title = "Calls of \(ProcessInfo.processInfo.processName), \(time)"
      try PrivateFolder(folder).create(Self.pageName, LogPage.head(title: title))
      try PrivateFolder(parent).link("latest", to: name)
    } catch {
      throw TaskError(
        .fileNotWritable, "can't write a log to \(folder.path): \(TaskRecorder.words(of: error))", phase: .preparing,
        underlying: error)
    }
  }

  private static let timeFormat = Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.standard).time(
    includingFractionalSeconds: false)

  /// The page.
  public var page: URL { folder.appendingPathComponent(Self.pageName) }

  /// Adds a call, and returns at once.
  public func record(_ call: RecordedCall) {
    let size = call.size
    let (refusal, isIdle) = state.withLock { state -> (String?, Bool) in
      guard state.count < limit else { return ("it has \(limit) calls, and later ones are not written", false) }
      guard state.calls.isEmpty || state.bytes + size <= TaskRecorder.room else {
        return ("calls end faster than they can be written, and some are missing", false)
      }
      state.calls.append(call)
      state.bytes += size
      state.count += 1
      defer { state.isWriting = true }
      return (nil, !state.isWriting)
    }
    if let refusal { fail(refusal) }
    guard isIdle else { return }
    TaskRecorder.beginWriting()
    writer.async { self.writeAll() }
  }

  /// Returns when all that was recorded is written, or cannot be.
  public func finish() async {
    await answer { waiter in
      state.withLock { state -> Void? in
        guard state.isWriting else { return () }
        state.waiters.append(waiter)
        return nil
      }
    }
  }

  // MARK: The writer

  private func writeAll() {
    while let (calls, first) = next() {
      var lost = calls.count
      do {
        let folder = try PrivateFolder(folder)
        for (index, call) in calls.enumerated() where written(call, as: first + index, into: folder) { lost -= 1 }
      } catch {
        fail(TaskRecorder.words(of: error))
      }
      if lost > 0 { log.write("the log \(folder.path): \(lost) of \(calls.count) calls could not be written") }
    }
    TaskRecorder.endWriting()
  }

  /// The calls to write, and the number of the first; nil where there are none, and the waiters are resumed.
  private func next() -> ([RecordedCall], Int)? {
    let (calls, first, waiters) = state.withLock { state -> ([RecordedCall], Int, [Waiter<Void>]) in
      let (calls, first) = (state.calls, state.count - state.calls.count + 1)
      (state.calls, state.bytes) = ([], 0)
      guard calls.isEmpty else { return (calls, first, []) }
      state.isWriting = false
      defer { state.waiters = [] }
      return ([], first, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return calls.isEmpty ? nil : (calls, first)
  }

  /// Writes a call; false where that failed, which ends no other.
  private func written(_ call: RecordedCall, as number: Int, into folder: borrowing PrivateFolder) -> Bool {
    do {
      let text = Data("\(call)".utf8)
      let file = RecordingEntry(call).numbered(number, name: call.fileName, bytes: text.count).file
      try folder.create(file, text)
      // The file is there before the page links to it, and the page has whole blocks alone.
      try folder.append(Self.pageName, LogPage.block(call, file: file))
      return true
    } catch {
      fail(TaskRecorder.words(of: error))
      return false
    }
  }

  private func fail(_ reason: String) {
    let isFirst = state.withLock { state in
      defer { state.hasFailed = true }
      return !state.hasFailed
    }
    if isFirst { log.write("the log \(folder.path): \(reason)") }
  }
}
