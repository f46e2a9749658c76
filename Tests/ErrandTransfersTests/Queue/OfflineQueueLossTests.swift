import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// Checks that no added task is lost.
@Suite(.timeLimit(.minutes(1))) struct OfflineQueueLossTests {
  @Test func `sets aside rejected and expired tasks and delivers a task that is moved back`() async throws {
    try await withFolder { folder in
      let isRefused = Shared(true)
      let remote = QueueRemote { _ in isRefused.withLock { $0 } ? 422 : .created }
      var queue: OfflineQueue? = try remote.queue(folder)
      try await queue?.add(Queued.Note(uploadPayload: "refused"))
      try await queue?.add(Queued.Note(uploadPayload: "late"), lifetime: .seconds(60))
      remote.clock.advance(by: .seconds(61))
      #expect(try await (queue?.deliver() ?? []).count == 2)
      let aside = try await queue?.setAside ?? []
      #expect(aside.map(\.lastPathComponent) == ["000000000001.task", "000000000002.task"])
      #expect(try Queued.files(in: folder).isEmpty)
      queue = nil
      isRefused.withLock { $0 = false }
      try FileManager.default.moveItem(at: aside[0], to: folder.appendingPathComponent(aside[0].lastPathComponent))
      // The queue's last task may retain it for a moment.
      var reopened: OfflineQueue?
      _ = await eventually {
        reopened = try? remote.queue(folder)
        return reopened != nil
      }
      let next = try #require(reopened)
      let kept = try await next.add(Queued.Note(uploadPayload: "new"))
      #expect(kept.id == 3, "a number is never used twice")
      #expect(try await next.deliver().map(\.task?.id) == [1, 3])
      #expect(try await next.setAside.count == 1)
    }
  }

  @Test func `rejects a second delivery while the first continues`() async throws {
    try await withFolder { folder in
      let remote = QueueRemote()
      let queue = try remote.queue(folder)
      let reports = Shared(0)
      let run = Task { try await queue.run { _ in reports.withLock { $0 += 1 } } }
      try await queue.add(Queued.Note(uploadPayload: "a"))
      #expect(await eventually { reports.withLock { $0 } == 1 })
      for _ in 0..<2 {
        let error = await #expect(throws: TaskError.self) { try await queue.run { _ in } }
        #expect(error?.code == .transferInUse)
        let other = await #expect(throws: TaskError.self) { try await queue.deliver() }
        #expect(other?.code == .transferInUse)
      }
      try await queue.add(Queued.Note(uploadPayload: "b"))
      #expect(await eventually { reports.withLock { $0 } == 2 })
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await queue.add(Queued.Note(uploadPayload: "c"))
      #expect(try await queue.deliver().count == 1)
    }
  }

  @Test func `a cancelled delivery keeps its reports for the next delivery`() async throws {
    try await withFolder { folder in
      let reached = AsyncStream<Void>.makeStream()
      let isStuck = Shared(true)
      let remote = QueueRemote { request, body in
        if body.contains("b"), isStuck.withLock({ $0 }) {
          reached.continuation.yield()
          try await CallClock(ManualClock()).sleep(for: .seconds(1))
        }
        return HTTPResponse(.created, url: request.url)
      }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "a"))
      try await queue.add(Queued.Note(uploadPayload: "b"))
      let delivery = Task { try await queue.deliver() }
      for await _ in reached.stream { break }
      delivery.cancel()
      await #expect(throws: CancellationError.self) { try await delivery.value }
      #expect(await queue.waiting.map(\.id) == [2])
      isStuck.withLock { $0 = false }
      #expect(try await queue.deliver().map(\.task?.id) == [1, 2])
    }
  }

  @Test func `reports a task before its file is deleted`() async throws {
    try await withFolder { folder in
      let queue = try QueueRemote { $0.contains("bad") ? 422 : .created }.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "bad"))
      try await queue.add(Queued.Note(uploadPayload: "good"))
      let found = Shared([[String]]())
      let run = Task {
        try await queue.run { _ in
          let names = (try? Queued.files(in: folder)) ?? []
          found.withLock { $0.append(names) }
        }
      }
      #expect(await eventually { found.withLock { $0.count } == 2 })
      run.cancel()
      _ = await run.result
      #expect(found.withLock { $0 } == [["000000000001.task", "000000000002.task"], ["000000000002.task"]])
    }
  }

  @Test func `unrelated files in the folder do not block the queue`() async throws {
    try await withFolder { folder in
      _ = try QueueRemote().queue(folder)
      for name in ["9223372036854775807.task", "99999999999999999999.task", "7.task", "-00000000001.task"] {
        try Data("{}".utf8).write(to: folder.appendingPathComponent(name))
      }
      let inner = folder.appendingPathComponent("000000000004.task")
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      #expect(symlink("/etc/hostname", folder.path + "/000000000005.task") == 0)
      let queue = try QueueRemote().queue(folder)
      #expect(try await queue.add(Queued.Note(uploadPayload: "a")).id == 6)
      let reports = try await queue.deliver()
      #expect(reports.map(\.fileName) == ["000000000004.task", "000000000005.task", "000000000006.task"])
      #expect(try Queued.files(in: folder).count == 4, "files without a valid number are not changed")
    }
  }

  @Test func `delivers a new task while another key is delayed`() async throws {
    try await withFolder { folder in
      let remote = QueueRemote { $0.contains("bad") ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "bad"), key: "x")
      let reports = Shared([Int?]())
      let run = Task { try await queue.run { report in reports.withLock { $0.append(report.task?.id) } } }
      #expect(await eventually { remote.bodies.count == 1 && remote.clock.sleeperCount == 1 })
      for number in 2...4 {
        try await queue.add(Queued.Note(uploadPayload: "good"), key: "y")
        #expect(await eventually { reports.withLock { $0.last } == number })
      }
      #expect(remote.bodies.count == 4, "the held task was not resent")
      run.cancel()
      _ = await run.result
    }
  }

  @Test func `delivers new and delayed tasks while a task with another key is in progress`()
    async throws
  {
    try await withFolder { folder in
      let (isBusy, long) = (Shared(true), Shared<CheckedContinuation<Void, Never>?>(nil))
      let remote = QueueRemote { request, body in
        if body.contains("long") { await withCheckedContinuation { next in long.withLock { $0 = next } } }
        let isRefused = body.contains("busy") && isBusy.withLock { $0 }
        return HTTPResponse(isRefused ? 503 : .created, url: request.url)
      }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "long"), key: "x")
      try await queue.add(Queued.Note(uploadPayload: "busy"), key: "y")
      let left = Shared([String]())
      let run = Task {
        try await queue.run { report in
          if report.hasLeft { left.withLock { $0.append(report.task?.payload ?? "") } }
        }
      }
      #expect(await eventually { remote.bodies.count == 2 && long.withLock { $0 != nil } })
      try await queue.add(Queued.Note(uploadPayload: "added"), key: "z")
      #expect(await eventually { left.withLock { $0.count == 1 && $0[0].contains("added") } })
      isBusy.withLock { $0 = false }
      await remote.clock.sleepers(count: 1)
      remote.clock.advance(by: .seconds(2))
      #expect(await eventually { left.withLock { $0.count == 2 && $0[1].contains("busy") } })
      long.withLock { $0 }?.resume()
      #expect(await eventually { left.withLock { $0.count == 3 } })
      #expect(await queue.waiting.isEmpty && remote.bodies.count == 4)
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
    }
  }

  @Test func `a form has the same bytes in each delivery`() async throws {
    try await withFolder { folder in
      let isBusy = Shared(true)
      let remote = QueueRemote { _ in isBusy.withLock { $0 } ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Photo(name: "a"))
      try await queue.deliver()
      isBusy.withLock { $0 = false }
      #expect(try await queue.deliver().count == 1)
      #expect(remote.bodies.count == 2 && remote.bodies[0] == remote.bodies[1] && !remote.bodies[0].isEmpty)
    }
  }

  @Test func `a manual delivery sends a delayed task once, regardless of how long the delivery takes`() async throws {
    try await withFolder { folder in
      let clock = Shared<ManualClock?>(nil)
      let remote = QueueRemote { request, body in
        if body.contains("slow") { clock.withLock { $0 }?.advance(by: .seconds(60)) }
        return HTTPResponse(body.contains("bad") ? 503 : .created, url: request.url)
      }
      clock.withLock { $0 = remote.clock }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "bad"), key: "x")
      for _ in 0..<3 { try await queue.add(Queued.Note(uploadPayload: "slow"), key: "y") }
      #expect(try await queue.deliver().count(where: \.hasLeft) == 3)
      #expect(remote.bodies.count { $0.contains("bad") } == 1)
    }
  }
}
