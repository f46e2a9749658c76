import ErrandTesting
import Foundation
import Testing

@testable import Errand

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Recordings that wait for a lock or for earlier recordings, and lost recordings.
@Suite(.timeLimit(.minutes(1))) struct RecordingWaitTests: RecordingSuite {
  @Test func `a call does not wait for its recording to be created`() async throws {
    try await withFolder { folder in
      let recorder = try TaskRecorder(folder: folder.appendingPathComponent("recordings"), limits: .unlimited)
      let hasReturned = Shared(false)
      let gate = DispatchSemaphore(value: 0)
      let recording = recording("Early"), late = self.recording("Late")
      recorder.record(size: 10, log: .discard) {
        gate.wait()
        return hasReturned.withLock { $0 } ? late : recording
      }
      hasReturned.withLock { $0 = true }
      gate.signal()
      await recorder.finish()
      #expect(try recordings(in: recorder.url) == ["0001. Late.txt"])
    }
  }

  @Test func `a recording that the limit drops frees its space in the queue`() async throws {
    try await withFolder { folder in
      let recorder = try TaskRecorder(folder: folder, limits: RecordingLimits(count: 1))
      let recording = recording()
      // Each round drops a recording of 30 MiB. The queue has room for 64 MiB.
      for _ in 0..<4 {
        let (reached, gate) = (Counter(), DispatchSemaphore(value: 0))
        recorder.record(size: 0, log: .discard) {
          reached.add()
          gate.wait()
          return recording
        }
        await reached.reached(1)
        for _ in 0..<2 { recorder.record(size: 30 << 20, log: .discard) { recording } }
        gate.signal()
        #expect(await recorder.finish() == 0)
      }
    }
  }

  @Test func `writes only the newest of many calls, with their original numbers`()
    async throws
  {
    try await withFolder { folder in
      let (lines, made) = (Shared<[String]>([]), Counter())
      let sink = LogOutput { line in lines.withLock { $0.append(line) } }
      let recorder = try TaskRecorder(folder: folder, limits: RecordingLimits(count: 2))
      let recording = recording()
      // Recordings 1 and 3 can't be written to this folder.
      for number in [1, 3] {
        let obstacle = folder.appendingPathComponent(".000\(number).partial/x")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
      }
      // Four more calls arrive while the first recording is created, and another call arrives while they wait for the
      // folder.
      let (reached, gate) = (Counter(), DispatchSemaphore(value: 0))
      recorder.record(size: 10, log: sink) {
        reached.add()
        gate.wait()
        return recording
      }
      await reached.reached(1)
      let record = {
        recorder.record(size: 10, log: sink) {
          made.add()
          return recording
        }
      }
      for _ in 0..<4 { record() }
      let lock = lock(in: folder)
      try #require(flock(lock, LOCK_EX) == 0)
      gate.signal()
      #expect(await eventually { made.count == 2 })
      record()
      #expect(await eventually { made.count == 3 })
      close(lock)
      await recorder.finish()
      #expect(made.count == 3 && lines.withLock { $0 }.count == 1)
      #expect(try index(in: folder).map(\.number) == [5, 6])
      #expect(try recordings(in: folder) == ["0005. GET Widget.txt", "0006. GET Widget.txt"])
    }
  }

  @Test func `calls do not wait for the folder's lock`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      try await stub.server.recordTaskPath(to: folder)
      let lock = open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CLOEXEC)
      try #require(flock(lock, LOCK_EX) == 0)
      // Each call must return before the lock is released.
      for id in 0..<20 { _ = try await GetWidget(id: id).on(stub.server).download() }
      #expect(try recordings(in: folder) == [])
      close(lock)
      await stub.server.recorded()
      #expect(try index(in: folder).map(\.url) == (0..<20).map { "https://shop.test/widgets/\($0)" })
    }
  }

  @Test func `ending a recording waits for a lock that is released late`()
    async throws
  {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      try await stub.server.recordTaskPath(to: folder)
      let lock = lock(in: folder)
      try #require(flock(lock, LOCK_EX) == 0)
      for id in 0..<3 { _ = try await GetWidget(id: id).on(stub.server).download() }
      let end = Task { await stub.server.endTaskPathRecording() }
      #expect(
        await eventually { lines.withLock { $0.first?.contains("is delayed: another process has locked it") == true } }
      )
      await Self.pass(.milliseconds(1200))
      close(lock)
      #expect(await end.value == 0)
      #expect(try recordings(in: folder).count == 3 && lines.withLock { $0.count } == 1)
    }
  }

  private static func pass(_ time: Duration) async { try? await Task.sleep(for: time) }

  @Test func `ending a recording gives up on a lock that is never released and counts the lost calls`()
    async throws
  {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let sink = LogOutput { line in lines.withLock { $0.append(line) } }
      let recorder = try TaskRecorder(folder: folder, limits: .unlimited, patience: .milliseconds(100))
      let lock = lock(in: folder)
      defer { close(lock) }
      try #require(flock(lock, LOCK_EX) == 0)
      let recording = recording()
      for _ in 0..<300 { recorder.record(size: 10, log: sink) { recording } }
      recorder.end()
      #expect(await recorder.finish() == 300)
      #expect(lines.withLock { $0.last?.hasSuffix("because of failed writes (calls lost: 300)") == true })
      #expect(try recordings(in: folder).isEmpty)
    }
  }

  @Test func `a cancelled task does not wait for the end of a recording`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      try await stub.server.recordTaskPath(to: folder)
      let recorder = try #require(stub.server.manager.recorder)
      let lock = lock(in: folder)
      try #require(flock(lock, LOCK_EX) == 0)
      _ = try await GetWidget().on(stub.server).download()
      let end = Task { await stub.server.endTaskPathRecording() }
      end.cancel()
      #expect(await end.value == 0)
      #expect(try recordings(in: folder).isEmpty)
      close(lock)
      await recorder.finish()
      #expect(try recordings(in: folder).count == 1, "the recording is still written")
    }
  }

  @Test func `counts recordings lost to a failing disk`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      try await stub.server.recordTaskPath(to: folder)
      let obstacle = folder.appendingPathComponent(".index.partial/x")
      try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
      for _ in 0..<3 { _ = try await GetWidget().on(stub.server).download() }
      #expect(await stub.server.endTaskPathRecording() == 3)
      #expect(lines.withLock { $0.count } == 2 && lines.withLock { $0.first?.contains("failed: ") == true })
      #expect(lines.withLock { $0.last?.hasSuffix("because of failed writes (calls lost: 3)") == true })
      #expect(await stub.server.endTaskPathRecording() == 0, "the recording has already ended")
    }
  }

  private func lock(in folder: URL) -> Int32 { open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CLOEXEC) }

  @Test func `the folder is not locked while a recording is created`() async throws {
    try await withFolder { folder in
      let recorder = try TaskRecorder(folder: folder, limits: .unlimited)
      let (reached, gate) = (Counter(), DispatchSemaphore(value: 0))
      let recording = recording()
      recorder.record(size: 10, log: .discard) {
        reached.add()
        gate.wait()
        return recording
      }
      await reached.reached(1)
      let lock = lock(in: folder)
      #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
      close(lock)
      gate.signal()
      await recorder.finish()
      #expect(try recordings(in: folder).count == 1)
    }
  }

  @Test func `creates a waiting recording only once and counts the size of its text`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let sink = LogOutput { line in lines.withLock { $0.append(line) } }
      let recorder = try TaskRecorder(folder: folder, limits: .unlimited)
      let made = Counter()
      let large = recording("GET Large", String(repeating: "x", count: TaskRecorder.room))
      let lock = lock(in: folder)
      try #require(flock(lock, LOCK_EX) == 0)
      recorder.record(size: 10, log: sink) {
        made.add()
        return large
      }
      #expect(await eventually { !lines.withLock { $0 }.isEmpty }, "the first write has failed")
      let late = recording("GET Late")
      recorder.record(size: 10, log: sink) { late }
      close(lock)
      await recorder.finish()
      #expect(try made.count == 1 && recordings(in: folder) == ["0001. GET Large.txt"])
      #expect(lines.withLock { $0 }.last?.contains("because the queue was full (calls dropped: 1)") == true)
    }
  }
}
