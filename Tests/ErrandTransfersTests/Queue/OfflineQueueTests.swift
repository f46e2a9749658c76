import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// Tasks that are stored until they are delivered.
@Suite(.timeLimit(.minutes(1))) struct OfflineQueueTests {
  struct Note: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
    static let typeName = "note"
    var uploadPayload: String
    var path: String { "notes" }
    var retryPolicy: RetryPolicy { .never }
  }

  /// A later version of `Note`.
  struct NewNote: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
    static let typeName = "note"
    static let version = 2
    var uploadPayload: [String]
    var path: String { "notes/new" }
  }

  struct Other: PersistentTask, ServerPOSTTask { var path = "other" }

  private struct Sent: Sendable, Equatable {
    let path: String
    let body: String
    let key: String
  }

  /// A server with responses chosen by the test, and the requests that it received.
  private final class Remote: Sendable {
    let sent = Shared([Sent]())
    let clock = ManualClock()
    let server: Server

    init(_ answer: @escaping @Sendable (String) throws -> HTTPStatus = { _ in .created }) {
      let sent = sent
      let transport = StubTransport { request in
        let body = String(decoding: request.body.data ?? Data(), as: UTF8.self)
        let key = request.headers[.idempotencyKey] ?? "none"
        sent.withLock { $0.append(Sent(path: request.url.path, body: body, key: key)) }
        return HTTPResponse(try answer(body), url: request.url)
      }
      server = Server(
        "https://shop.test", transport: transport,
        manager: TaskManager(clock: CallClock(clock)), environment: [:])
    }

    var bodies: [String] { sent.withLock { $0.map(\.body) } }

    func queue(_ folder: URL, migration: OfflineQueue.Migration? = nil) throws -> OfflineQueue {
      try OfflineQueue(in: folder, on: server, types: [Note.self], migration: migration)
    }
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()
  }

  private func kinds(_ reports: [QueueReport]) -> [String] {
    reports.filter(\.hasLeft).map { report in
      switch report.outcome {
      case .delivered(let status): "\(status.code)"
      case .expired: "expired"
      case .failed(let error): (error as? TaskError)?.code.name ?? "failed"
      case .setAside: "aside"
      case .stays: "stays"
      }
    }
  }

  @Test func `sends a task with its stored key, even if the server's preflight makes a new one`() async throws {
    try await withFolder { folder in
      let remote = Remote { _ in throw TaskError(.connectionLost, "lost", phase: .awaitingResponse) }
      await remote.server.update { $0.preflight = { $1.headers[.idempotencyKey] = UUID().uuidString } }
      let queue = try remote.queue(folder.appendingPathComponent("queue"))
      try await queue.add(Note(uploadPayload: "a"))
      for _ in 0..<2 { _ = try await queue.deliver() }
      let keys = remote.sent.withLock { $0.map(\.key) }
      #expect(keys.count >= 2 && Set(keys).count == 1, "\(keys)")
    }
  }

  @Test func `delivers tasks in order and leaves no files behind`() async throws {
    try await withFolder { folder in
      let remote = Remote()
      let queue = try remote.queue(folder)
      for text in ["a", "b", "c"] { try await queue.add(Note(uploadPayload: text)) }
      #expect(await queue.waiting.map(\.id) == [1, 2, 3])
      #expect(kinds(try await queue.deliver()) == ["201", "201", "201"])
      #expect(remote.bodies == ["a", "b", "c"])
      #expect(Set(remote.sent.withLock { $0.map(\.key) }).count == 3)
      #expect(try names(folder) == ["set-aside"])
      #expect(await queue.waiting.isEmpty)
    }
  }

  @Test func `the next launch delivers pending tasks with the same keys`() async throws {
    try await withFolder { folder in
      let remote = Remote { _ in throw TaskError(.cannotConnect, "no", phase: .connecting) }
      var queue: OfflineQueue? = try remote.queue(folder)
      try await queue?.add(Note(uploadPayload: "a"), key: "x")
      try await queue?.add(Note(uploadPayload: "b"), key: "x")
      #expect(kinds(try await queue?.deliver() ?? []) == [])
      #expect(remote.bodies == ["a"], "the next task with the same key waits")
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/000000000001.task")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      queue = nil
      let later = Remote()
      // The queue's last task may retain it for a moment.
      var reopened: OfflineQueue?
      _ = await eventually {
        reopened = try? later.queue(folder)
        return reopened != nil
      }
      let next = try #require(reopened)
      #expect(kinds(try await next.deliver()) == ["201", "201"])
      let (first, second) = (remote.sent.withLock { $0 }, later.sent.withLock { $0 })
      #expect(first[0] == second[0] && second[0].key != second[1].key && second[0].key.count == 32)
    }
  }

  @Test func `a delayed key does not delay other keys`() async throws {
    try await withFolder { folder in
      let remote = Remote { $0.contains("bad") ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"), key: "x")
      try await queue.add(Note(uploadPayload: "behind"), key: "x")
      try await queue.add(Note(uploadPayload: "good"), key: "y")
      #expect(kinds(try await queue.deliver()) == ["201"])
      #expect(await queue.waiting.map(\.id) == [1, 2])
    }
  }

  @Test func `reports a rejected task and sends the next one`() async throws {
    try await withFolder { folder in
      let remote = Remote { $0.contains("bad") ? 422 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"))
      try await queue.add(Note(uploadPayload: "good"))
      let reports = try await queue.deliver()
      #expect(kinds(reports) == ["badStatus", "201"] && reports[0].task?.payload.contains("bad") == true)
    }
  }

  @Test(arguments: [
    (401, true), (408, true), (425, true), (429, true), (500, true), (503, true), (400, false), (403, false),
    (404, false), (409, false), (422, false), (302, true), (200, false),
  ]) func `the status determines whether a task stays in the queue`(status: Int, stays: Bool) {
    var error = TaskError(.badStatus, "", phase: .finishing)
    error.status = HTTPStatus(status)
    #expect(QueueRules.stays(after: error) == stays)
  }

  @Test func `the error determines whether a task stays in the queue`() {
    func stays(_ code: TaskError.Code) -> Bool { QueueRules.stays(after: TaskError(code, "", phase: .sending)) }
    #expect(stays(.offline) && stays(.timedOut) && stays(.signInRequired) && stays(.untrustedServer))
    #expect(stays(.insecureScheme) && stays(.unknownRemote), "a later release of the app can fix the cause")
    #expect(!stays(.badRequest) && !stays(.encodingFailed) && !stays(.init("soldOut")))
    #expect(QueueRules.stays(after: CancellationError()))
    #expect(
      QueueRules.stays(after: POSIXError(.EPERM)), "a hook can throw this error, for example if it can't read a key")
  }

  @Test func `determines whether a task has expired by the clock of its server`() async throws {
    try await withFolder { folder in
      let remote = Remote()
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "a"), lifetime: .seconds(60))
      try await queue.add(Note(uploadPayload: "b"))
      remote.clock.advance(by: .seconds(61))
      #expect(kinds(try await queue.deliver()) == ["expired", "201"])
      #expect(remote.bodies == ["b"])
    }
  }

  @Test func `migrates a task stored by another version, or sets it aside`() async throws {
    for migrates in [true, false] {
      try await withFolder { folder in
        do {
          let old = try Remote().queue(folder)
          try await old.add(Note(uploadPayload: "a"))
        }
        let remote = Remote()
        let migration: OfflineQueue.Migration = { old in
          guard migrates, old.version == 1 else { return nil }
          return NewNote(uploadPayload: [
            try JSONDecoder().decode(Note.self, from: Data(old.payload.utf8)).uploadPayload
          ])
        }
        let queue = try OfflineQueue(in: folder, on: remote.server, types: [NewNote.self], migration: migration)
        #expect(kinds(try await queue.deliver()) == [migrates ? "201" : "aside"])
        #expect(remote.bodies == (migrates ? [#"["a"]"#] : []))
        #expect(try names(folder.appendingPathComponent("set-aside")) == (migrates ? [] : ["000000000001.task"]))
      }
    }
  }

  @Test func `sets aside invalid files and unknown types and delivers the rest`() async throws {
    try await withFolder { folder in
      do {
        let queue = try OfflineQueue(in: folder, on: Remote().server, types: [Other.self])
        try await queue.add(Other())
      }
      try Data("{".utf8).write(to: folder.appendingPathComponent("000000000002.task"))
      try Data("half".utf8).write(to: folder.appendingPathComponent("000000000003.task~"))
      let remote = Remote()
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "a"))
      let reports = try await queue.deliver()
      #expect(kinds(reports) == ["aside", "aside", "201"])
      #expect(reports.map(\.fileName) == ["000000000002.task", "000000000001.task", "000000000003.task"])
      #expect(try names(folder) == ["set-aside"])
      #expect(try names(folder.appendingPathComponent("set-aside")).count == 2)
    }
  }

  @Test func `locks its folder and rejects unregistered types`() async throws {
    try await withFolder { folder in
      let queue = try Remote().queue(folder)
      let error = #expect(throws: TaskError.self) { try Remote().queue(folder) }
      #expect(error?.code == .transferInUse)
      let refusal = await #expect(throws: TaskError.self) { try await queue.add(Other()) }
      #expect(refusal?.code == .encodingFailed)
    }
  }

  @Test func `a running queue delivers new tasks and retries delayed tasks`() async throws {
    try await withFolder { folder in
      let isBusy = Shared(true)
      let remote = Remote { _ in isBusy.withLock { $0 } ? 503 : .created }
      let queue = try remote.queue(folder)
      let reports = Shared(0)
      let run = Task { try await queue.run { report in if report.hasLeft { reports.withLock { $0 += 1 } } } }
      try await queue.add(Note(uploadPayload: "a"))
      #expect(await eventually { remote.bodies.count == 1 })
      isBusy.withLock { $0 = false }
      #expect(
        await eventually {
          remote.clock.advance(by: .seconds(1))
          return reports.withLock { $0 } == 1
        })
      try await queue.add(Note(uploadPayload: "b"))
      #expect(await eventually { reports.withLock { $0 } == 2 })
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
    }
  }

  @Test func `after each delivery, reports the tasks that remain with their errors`() async throws {
    try await withFolder { folder in
      let remote = Remote { $0.contains("bad") ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"), key: "x")
      try await queue.add(Note(uploadPayload: "behind"), key: "x")
      for _ in 1...2 {
        let reports = try await queue.deliver()
        #expect(reports.count == 1 && reports[0].task?.id == 1 && !reports[0].hasLeft)
        guard case .stays(let error as TaskError) = reports[0].outcome else {
          Issue.record("\(reports)")
          return
        }
        #expect(error.status == .serviceUnavailable)
      }
    }
  }

  @Test func `rejects two types with the same name, but not a repeated type`() async throws {
    try await withFolder { folder in
      let error = #expect(throws: TaskError.self) {
        try OfflineQueue(in: folder, on: Remote().server, types: [Note.self, Other.self, NewNote.self])
      }
      #expect(error?.code == .encodingFailed)
      #expect(
        error?.reason.contains("Note and NewNote have the same typeName 'note'") == true, "\(error?.reason ?? "")")
      _ = try OfflineQueue(in: folder, on: Remote().server, types: [Note.self, Note.self])
    }
  }
}
