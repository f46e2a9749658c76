import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Nothing that was added is lost, whatever happens to it.
@Suite struct OfflineQueueLossTests {
  struct Note: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
    static let typeName = "note"
    var uploadPayload: String
    var path: String { "notes" }
    var retryPolicy: RetryPolicy { .never }
  }

  struct Payment: PersistentTask, ServerPOSTTask {
    static let typeName = "payment"
    var path: String { "payments" }
    var idempotency: Idempotency { .neverRepeat }
    var retryPolicy: RetryPolicy { .fixed(retries: 2, delay: .zero) }
  }

  @Test func `what may never be repeated is sent once a delivery`() async throws {
    try await withFolder { folder in
      let remote = Remote { _ in .serviceUnavailable }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Payment.self])
      try await queue.add(Payment())
      #expect(try await queue.deliver().map(\.hasLeft) == [false])
      #expect(remote.bodies.count == 1)
    }
  }

  private struct Unwritable: Error {}

  @Test(arguments: [false, true]) func `what the server has accepted is not sent again, whatever a hook says then`(
    isNested: Bool
  ) async throws {
    try await withFolder { folder in
      let (remote, other) = (Remote(), Remote { _ in .notFound })
      await remote.server.update { [server = other.server] settings in
        settings.postflight = { _, _ in
          if isNested { try await Ping().on(server).run() } else { throw Unwritable() }
        }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Payment.self])
      try await queue.add(Payment())
      for hasLeft in [[true], []] { #expect(try await queue.deliver().map(\.hasLeft) == hasLeft) }
      #expect(remote.bodies.count == 1)
      #expect(try await queue.setAside.count == 1)
    }
  }

  @Test(arguments: [false, true])
  func `a hook that a page for signing in fails keeps the task, a cancelled one does not`(
    strays: Bool
  ) async throws {
    try await withFolder { folder in
      let remote = Remote { request, _ in
        guard strays, request.url.path == "/payments" else { return HTTPResponse(.created, url: request.url) }
        return HTTPResponse(.found, url: request.url, headers: [.location: "/sign-in"])
      }
      await remote.server.update { settings in
        settings.postflight = { _, _ in if strays { throw Unwritable() } else { throw CancellationError() } }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Payment.self])
      try await queue.add(Payment())
      let outcome = try await queue.deliver().first?.outcome
      if strays {
        guard case .stays = outcome else { throw TaskError(.internal, "the task has left", phase: .finishing) }
      } else {
        guard case .delivered(.created) = outcome else { throw TaskError(.internal, "it stays", phase: .finishing) }
      }
    }
  }

  struct Ping: PersistentTask, ServerGETTask {
    static let typeName = "ping"
    var path: String { "ping" }
  }

  struct Photo: PersistentTask, ServerPOSTTask {
    static let typeName = "photo"
    var name: String
    var isOnce = false
    var path: String { "photos" }
    var idempotency: Idempotency { isOnce ? .neverRepeat : .automatic }
    var retryPolicy: RetryPolicy { .never }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      try MultipartForm([.text("name", name)]).body()
    }
  }

  /// A server whose answers the test makes, by the body.
  private final class Remote: Sendable {
    typealias Answer = @Sendable (HTTPRequest, String) async throws -> HTTPResponse
    let sent = Shared([String]())
    let clock = ManualClock()
    let server: Server

    init(_ answer: @escaping Answer) {
      let sent = sent
      let transport = StubTransport { request in
        let bytes = Shared(Data())
        try await request.body.forEachChunk { chunk in bytes.withLock { $0.append(chunk) } }
        let body = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
        sent.withLock { $0.append(body) }
        return try await answer(request, body)
      }
      server = Server(
        remote: "https://shop.test", transport: transport,
        manager: TaskManager(clock: CallClock(clock)), environment: [:])
    }

    convenience init(status: @escaping @Sendable (String) -> HTTPStatus = { _ in .created }) {
      self.init { request, body in HTTPResponse(status(body), url: request.url) }
    }

    var bodies: [String] { sent.withLock { $0 } }

    func queue(_ folder: URL) throws -> OfflineQueue {
      try OfflineQueue(in: folder, on: server, types: [Note.self, Photo.self, Ping.self])
    }
  }

  private func files(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".task") }.sorted()
  }

  @Test(arguments: [false, true]) func `the failure of a call that a hook makes is none of the task's`(signsIn: Bool)
    async throws
  {
    try await withFolder { folder in
      let (remote, other) = (Remote(), Remote { _ in .notFound })
      let isBroken = Shared(true)
      await remote.server.update { [server = other.server] settings in
        let token = { @Sendable in
          if isBroken.withLock({ $0 }) { try await Ping().on(server).run() }
          return "t"
        }
        if signsIn {
          settings.authentication = .bearer(token)
        } else {
          settings.preflight = { _, _ in _ = try await token() }
        }
      }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "kept"))
      guard case .stays(let error as TaskError) = try await queue.deliver().first?.outcome else {
        throw TaskError(.internal, "the task has left", phase: .finishing)
      }
      #expect(error.code == .badStatus && error.reason.hasPrefix("GET https://shop.test/ping sent for it: 404"))
      #expect(remote.bodies.isEmpty && error.url == (signsIn ? "https://shop.test/notes" : nil))
      isBroken.withLock { $0 = false }
      remote.clock.advance(by: .seconds(3600))  // a source of tokens that has failed is left alone for a while
      #expect(try await queue.deliver().map(\.hasLeft) == [true])
      let left = try files(folder)
      #expect(remote.bodies.count == 1 && left.isEmpty)
    }
  }

  @Test func `what is refused or expires is set aside, and brought back by its file`() async throws {
    try await withFolder { folder in
      let isRefused = Shared(true)
      let remote = Remote { _ in isRefused.withLock { $0 } ? 422 : .created }
      var queue: OfflineQueue? = try remote.queue(folder)
      try await queue?.add(Note(uploadPayload: "refused"))
      try await queue?.add(Note(uploadPayload: "late"), lifetime: .seconds(60))
      remote.clock.advance(by: .seconds(61))
      #expect(try await (queue?.deliver() ?? []).count == 2)
      let aside = try await queue?.setAside ?? []
      #expect(aside.map(\.lastPathComponent) == ["000000000001.task", "000000000002.task"])
      #expect(try files(folder).isEmpty)
      queue = nil
      isRefused.withLock { $0 = false }
      try FileManager.default.moveItem(at: aside[0], to: folder.appendingPathComponent(aside[0].lastPathComponent))
      let next = try remote.queue(folder)
      let kept = try await next.add(Note(uploadPayload: "new"))
      #expect(kept.id == 3, "no number twice")
      #expect(try await next.deliver().map(\.task?.id) == [1, 3])
      #expect(try await next.setAside.count == 1)
    }
  }

  @Test(arguments: [(301, false), (302, false), (303, true), (307, true)])
  func `a redirect to a page where people sign in delivers nothing`(status: Int, isDelivered: Bool) async throws {
    try await withFolder { folder in
      let remote = Remote { request, _ in
        guard request.url.path == "/notes" else { return HTTPResponse(.ok, url: request.url) }
        return HTTPResponse(HTTPStatus(status), url: request.url, headers: ["Location": "/login"])
      }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "a"))
      #expect(try await queue.deliver().map(\.hasLeft) == [isDelivered])
      #expect(try files(folder).isEmpty == isDelivered)
    }
  }

  @Test func `a second delivery is refused, and takes nothing from the first`() async throws {
    try await withFolder { folder in
      let remote = Remote()
      let queue = try remote.queue(folder)
      let reports = Shared(0)
      let run = Task { try await queue.run { _ in reports.withLock { $0 += 1 } } }
      try await queue.add(Note(uploadPayload: "a"))
      #expect(await eventually { reports.withLock { $0 } == 1 })
      for _ in 0..<2 {
        let error = await #expect(throws: TaskError.self) { try await queue.run { _ in } }
        #expect(error?.code == .transferInUse)
        let other = await #expect(throws: TaskError.self) { try await queue.deliver() }
        #expect(other?.code == .transferInUse)
      }
      try await queue.add(Note(uploadPayload: "b"))
      #expect(await eventually { reports.withLock { $0 } == 2 })
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await queue.add(Note(uploadPayload: "c"))
      #expect(try await queue.deliver().count == 1)
    }
  }

  @Test func `a delivery that is cancelled keeps its reports for the next one`() async throws {
    try await withFolder { folder in
      let reached = AsyncStream<Void>.makeStream()
      let isStuck = Shared(true)
      let remote = Remote { request, body in
        if body.contains("b"), isStuck.withLock({ $0 }) {
          reached.continuation.yield()
          try await CallClock(ManualClock()).sleep(for: .seconds(1))
        }
        return HTTPResponse(.created, url: request.url)
      }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "a"))
      try await queue.add(Note(uploadPayload: "b"))
      let delivery = Task { try await queue.deliver() }
      for await _ in reached.stream { break }
      delivery.cancel()
      await #expect(throws: CancellationError.self) { try await delivery.value }
      #expect(await queue.waiting.map(\.id) == [2])
      isStuck.withLock { $0 = false }
      #expect(try await queue.deliver().map(\.task?.id) == [1, 2])
    }
  }

  @Test func `a task is told of before its file goes`() async throws {
    try await withFolder { folder in
      let queue = try Remote { $0.contains("bad") ? 422 : .created }.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"))
      try await queue.add(Note(uploadPayload: "good"))
      let found = Shared([[String]]())
      let run = Task {
        try await queue.run { _ in
          let names = (try? files(folder)) ?? []
          found.withLock { $0.append(names) }
        }
      }
      #expect(await eventually { found.withLock { $0.count } == 2 })
      run.cancel()
      _ = await run.result
      #expect(found.withLock { $0 } == [["000000000001.task", "000000000002.task"], ["000000000002.task"]])
    }
  }

  @Test func `what others put into the folder holds nothing up`() async throws {
    try await withFolder { folder in
      _ = try Remote().queue(folder)
      for name in ["9223372036854775807.task", "99999999999999999999.task", "7.task", "-00000000001.task"] {
        try Data("{}".utf8).write(to: folder.appendingPathComponent(name))
      }
      let inner = folder.appendingPathComponent("000000000004.task")
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      #expect(symlink("/etc/hostname", folder.path + "/000000000005.task") == 0)
      let queue = try Remote().queue(folder)
      #expect(try await queue.add(Note(uploadPayload: "a")).id == 6)
      let reports = try await queue.deliver()
      #expect(reports.map(\.fileName) == ["000000000004.task", "000000000005.task", "000000000006.task"])
      #expect(try files(folder).count == 4, "what has no number of ours is left alone")
    }
  }

  @Test func `one that is added is delivered while another key is held up`() async throws {
    try await withFolder { folder in
      let remote = Remote { $0.contains("bad") ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"), key: "x")
      let reports = Shared([Int?]())
      let run = Task { try await queue.run { report in reports.withLock { $0.append(report.task?.id) } } }
      #expect(await eventually { remote.bodies.count == 1 && remote.clock.sleeperCount == 1 })
      for number in 2...4 {
        try await queue.add(Note(uploadPayload: "good"), key: "y")
        #expect(await eventually { reports.withLock { $0.last } == number })
      }
      #expect(remote.bodies.count == 4, "the one that is held up was not sent once more")
      run.cancel()
      _ = await run.result
    }
  }

  @Test func `one that is added, and one that was held up, is delivered while another key is under way`()
    async throws
  {
    try await withFolder { folder in
      let (isBusy, long) = (Shared(true), Shared<CheckedContinuation<Void, Never>?>(nil))
      let remote = Remote { request, body in
        if body.contains("long") { await withCheckedContinuation { next in long.withLock { $0 = next } } }
        let isRefused = body.contains("busy") && isBusy.withLock { $0 }
        return HTTPResponse(isRefused ? 503 : .created, url: request.url)
      }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "long"), key: "x")
      try await queue.add(Note(uploadPayload: "busy"), key: "y")
      let left = Shared([String]())
      let run = Task {
        try await queue.run { report in
          if report.hasLeft { left.withLock { $0.append(report.task?.payload ?? "") } }
        }
      }
      #expect(await eventually { remote.bodies.count == 2 && long.withLock { $0 != nil } })
      try await queue.add(Note(uploadPayload: "added"), key: "z")
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

  @Test(arguments: [false, true]) func `a form has the same bytes each time, as a server that knows its key expects`(
    isOnce: Bool
  ) async throws {
    try await withFolder { folder in
      let isBusy = Shared(true)
      let remote = Remote { _ in isBusy.withLock { $0 } ? 503 : .created }
      let queue = try remote.queue(folder)
      try await queue.add(Photo(name: "a", isOnce: isOnce))
      try await queue.deliver()
      isBusy.withLock { $0 = false }
      #expect(try await queue.deliver().count == 1)
      #expect(remote.bodies.count == 2 && remote.bodies[0] == remote.bodies[1] && !remote.bodies[0].isEmpty)
    }
  }

  @Test func `a cache delivers nothing`() async throws {
    try await withFolder { folder in
      let remote = Remote { request, _ in
        HTTPResponse(.ok, url: request.url, headers: ["Cache-Control": "max-age=60"])
      }
      await remote.server.update { $0.cache = MemoryCache() }
      let queue = try remote.queue(folder)
      for _ in 0..<2 { try await queue.add(Ping()) }
      #expect(try await queue.deliver().count == 2)
      #expect(remote.bodies.count == 2)
    }
  }

  @Test func `a delivery by hand sends what stays once, however long it takes`() async throws {
    try await withFolder { folder in
      let clock = Shared<ManualClock?>(nil)
      let remote = Remote { request, body in
        if body.contains("slow") { clock.withLock { $0 }?.advance(by: .seconds(60)) }
        return HTTPResponse(body.contains("bad") ? 503 : .created, url: request.url)
      }
      clock.withLock { $0 = remote.clock }
      let queue = try remote.queue(folder)
      try await queue.add(Note(uploadPayload: "bad"), key: "x")
      for _ in 0..<3 { try await queue.add(Note(uploadPayload: "slow"), key: "y") }
      #expect(try await queue.deliver().count(where: \.hasLeft) == 3)
      #expect(remote.bodies.count { $0.contains("bad") } == 1)
    }
  }

  struct Report: PersistentTask, ServerPOSTTask {
    static let typeName = "report"
    var path: String { "reports" }
    var retryPolicy: RetryPolicy { .never }
    var acceptedStatuses: AcceptedStatuses { .returningOthers }
  }

  @Test(arguments: [true, false]) func `a response that is returned and no success delivers nothing`(isOfTask: Bool)
    async throws
  {
    try await withFolder { folder in
      let remote = Remote { _ in .serviceUnavailable }
      if !isOfTask { await remote.server.update { $0.reportBadHTTPStatusAsError = false } }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Report.self, Note.self])
      if isOfTask { try await queue.add(Report()) } else { try await queue.add(Note(uploadPayload: "a")) }
      #expect(try await queue.deliver().map(\.hasLeft) == [false])
      #expect(try files(folder).count == 1)
    }
  }
}
