import Dispatch
import ErrandFoundation

/// Writes a jar to its file on a separate dispatch queue, so that no call waits for the disk.
final class CookieStore: Sendable {
  private struct State {
    /// Whether a write is queued but has not started. That write will include new changes.
    var isQueued = false
    /// Whether the last write failed. Further failures are not logged until writing succeeds again.
    var hasFailed = false
  }

  let file: CookieFile
  private let log: LogOutput
  private let state = Lock(State())
  private let writer = DispatchQueue(label: "errand.cookies", qos: .utility)

  init(_ file: CookieFile, _ log: LogOutput) {
    self.file = file
    self.log = log
  }

  func open() throws -> [Cookie] {
    try explaining { try file.open() }
  }

  func save(_ jar: CookieJar) {
    guard jar.hasChanges else { return }
    let isFirst = state.withLock { state in
      defer { state.isQueued = true }
      return !state.isQueued
    }
    guard isFirst else { return }
    writer.async { [self] in
      state.withLock { $0.isQueued = false }
      do {
        try write(jar)
      } catch {
        fail(error)
      }
    }
  }

  func synchronize(_ jar: CookieJar) async throws {
    // Not cancellable, because the write takes little time: it only waits for the file's lock.
    let result: Result<Void, any Error> = await answer { waiter in
      writer.async { [self] in waiter.resume(returning: Result { try write(jar) }) }
      return nil
    }
    try result.get()
  }

  private func write(_ jar: CookieJar) throws {
    try explaining { try jar.write(to: file) }
    state.withLock { $0.hasFailed = false }
  }

  private func fail(_ error: any Error) {
    let isFirst = state.withLock { state in
      defer { state.hasFailed = true }
      return !state.hasFailed
    }
    if isFirst { log.write("\((error as? TaskError)?.reason ?? "\(error)")") }
  }

  private func explaining<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch {
      let words = (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
      throw TaskError(
        .fileNotWritable, "can't store cookies in \(file.url.path): \(words)", phase: .preparing, underlying: error)
    }
  }
}
