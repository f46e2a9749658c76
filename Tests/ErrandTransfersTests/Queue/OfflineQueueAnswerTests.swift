import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// How server responses and hooks determine whether the task leaves the queue.
@Suite(.timeLimit(.minutes(1))) struct OfflineQueueAnswerTests {
  @Test func `rejects new .neverRepeat tasks and sets aside stored ones`() async throws {
    try await withFolder { folder in
      let queue = try OfflineQueue(in: folder, on: QueueRemote().server, types: [Queued.Photo.self])
      let error = await #expect(throws: TaskError.self) { try await queue.add(Queued.Photo(name: "a", isOnce: true)) }
      #expect(error?.code == .badRequest && error?.reason.contains("use .key") == true)
      #expect(await queue.waiting.isEmpty)
    }
    try await withFolder { folder in
      let remote = QueueRemote()
      try await OfflineQueue(in: folder, on: remote.server, types: [Queued.Note.self])
        .add(Queued.Note(uploadPayload: "a"))
      let queue = try OfflineQueue(in: folder, on: remote.server, types: []) { old in
        Queued.Photo(name: old.payload, isOnce: true)
      }
      let reports = try await queue.deliver()
      guard case .setAside(let reason) = reports.first?.outcome else {
        throw TaskError(.internal, "\(reports)", phase: .finishing)
      }
      #expect(reason.contains(".neverRepeat") && remote.bodies.isEmpty)
    }
  }

  /// A database write, for example, doesn't react to a cancellation.
  @Test func `delivers an accepted task only once, even if its hook outlasts the deadline`() async throws {
    try await withFolder { folder in
      let (remote, isWriting, isWritten) = (QueueRemote(), Gate(), Gate())
      await remote.server.update { settings in
        settings.timeouts.call = .seconds(30)
        settings.postflight = { _, _ in
          isWriting.open()
          await isWritten.wait()
        }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Queued.Payment.self])
      try await queue.add(Queued.Payment())
      let delivery = Task { try await queue.deliver() }
      await isWriting.wait()
      remote.clock.advance(by: .seconds(31))
      isWritten.open()
      let outcome = try await delivery.value.first?.outcome
      guard case .delivered(.created) = outcome else {
        throw TaskError(.internal, "\(outcome as Any)", phase: .finishing)
      }
      #expect(try await queue.deliver().isEmpty && remote.bodies.count == 1)
    }
  }

  private struct Unwritable: Error {}

  @Test(arguments: [false, true]) func `does not resend an accepted task if its hook fails`(
    isNested: Bool
  ) async throws {
    try await withFolder { folder in
      let (remote, other) = (QueueRemote(), QueueRemote { _ in .notFound })
      await remote.server.update { [server = other.server] settings in
        settings.postflight = { _, _ in
          if isNested { try await Queued.Ping().on(server).run() } else { throw Unwritable() }
        }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Queued.Payment.self])
      try await queue.add(Queued.Payment())
      for hasLeft in [[true], []] { #expect(try await queue.deliver().map(\.hasLeft) == hasLeft) }
      #expect(remote.bodies.count == 1)
      #expect(try await queue.setAside.count == 1)
    }
  }

  @Test func `cancels a hook at the deadline and delivers the task`() async throws {
    try await withFolder { folder in
      let (remote, isAsleep) = (QueueRemote(), Gate())
      await remote.server.update { settings in
        settings.timeouts.call = .seconds(30)
        settings.postflight = { _, _ in
          isAsleep.open()
          try await CallClock(ManualClock()).sleep(for: .seconds(1))
        }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Queued.Payment.self])
      try await queue.add(Queued.Payment())
      let delivery = Task { try await queue.deliver() }
      await isAsleep.wait()
      remote.clock.advance(by: .seconds(31))
      guard case .delivered(.created) = try await delivery.value.first?.outcome else {
        throw TaskError(.internal, "it was set aside", phase: .finishing)
      }
    }
  }

  @Test(arguments: [false, true])
  func `after a sign-in redirect, a failing hook keeps the task, but a cancelled hook does not`(
    strays: Bool
  ) async throws {
    try await withFolder { folder in
      let remote = QueueRemote { request, _ in
        guard strays, request.url.path == "/payments" else { return HTTPResponse(.created, url: request.url) }
        return HTTPResponse(.found, url: request.url, headers: [.location: "/sign-in"])
      }
      await remote.server.update { settings in
        settings.postflight = { _, _ in if strays { throw Unwritable() } else { throw CancellationError() } }
      }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Queued.Payment.self])
      try await queue.add(Queued.Payment())
      let outcome = try await queue.deliver().first?.outcome
      if strays {
        guard case .stays = outcome else { throw TaskError(.internal, "the task has left", phase: .finishing) }
      } else {
        guard case .delivered(.created) = outcome else { throw TaskError(.internal, "it stays", phase: .finishing) }
      }
    }
  }

  @Test(arguments: [false, true]) func `a call that fails inside a hook keeps the task in the queue`(signsIn: Bool)
    async throws
  {
    try await withFolder { folder in
      let (remote, other) = (QueueRemote(), QueueRemote { _ in .notFound })
      let isBroken = Shared(true)
      await remote.server.update { [server = other.server] settings in
        let token = { @Sendable in
          if isBroken.withLock({ $0 }) { try await Queued.Ping().on(server).run() }
          return "t"
        }
        if signsIn {
          settings.authentication = .bearer(token)
        } else {
          settings.preflight = { _, _ in _ = try await token() }
        }
      }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "kept"))
      guard case .stays(let error as TaskError) = try await queue.deliver().first?.outcome else {
        throw TaskError(.internal, "the task has left", phase: .finishing)
      }
      #expect(
        error.code == .badStatus
          && error.reason.hasPrefix("GET https://shop.test/ping, which this call depends on, failed: 404"))
      #expect(remote.bodies.isEmpty && error.url == (signsIn ? "https://shop.test/notes" : nil))
      isBroken.withLock { $0 = false }
      remote.clock.advance(by: .seconds(3600))  // After a failure, the token source is not called again for a while.
      #expect(try await queue.deliver().map(\.hasLeft) == [true])
      let left = try Queued.files(in: folder)
      #expect(remote.bodies.count == 1 && left.isEmpty)
    }
  }

  @Test(arguments: [(301, false), (302, false), (303, true), (307, true)])
  func `a 301 or 302 redirect does not deliver the task, but a 303 or 307 does`(status: Int, isDelivered: Bool)
    async throws
  {
    try await withFolder { folder in
      let remote = QueueRemote { request, _ in
        guard request.url.path == "/notes" else { return HTTPResponse(.ok, url: request.url) }
        return HTTPResponse(HTTPStatus(status), url: request.url, headers: ["Location": "/login"])
      }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "a"))
      #expect(try await queue.deliver().map(\.hasLeft) == [isDelivered])
      #expect(try Queued.files(in: folder).isEmpty == isDelivered)
    }
  }

  @Test func `sends the task even if a cached response exists`() async throws {
    try await withFolder { folder in
      let remote = QueueRemote { request, _ in
        HTTPResponse(.ok, url: request.url, headers: ["Cache-Control": "max-age=60"])
      }
      await remote.server.update { $0.cache = MemoryCache() }
      let queue = try remote.queue(folder)
      for _ in 0..<2 { try await queue.add(Queued.Ping()) }
      #expect(try await queue.deliver().count == 2)
      #expect(remote.bodies.count == 2)
    }
  }

  @Test(arguments: [true, false]) func `an accepted error status does not deliver the task`(isOfTask: Bool)
    async throws
  {
    try await withFolder { folder in
      let remote = QueueRemote { _ in .serviceUnavailable }
      if !isOfTask { await remote.server.update { $0.reportBadHTTPStatusAsError = false } }
      let queue = try OfflineQueue(in: folder, on: remote.server, types: [Queued.Report.self, Queued.Note.self])
      if isOfTask { try await queue.add(Queued.Report()) } else { try await queue.add(Queued.Note(uploadPayload: "a")) }
      #expect(try await queue.deliver().map(\.hasLeft) == [false])
      #expect(try Queued.files(in: folder).count == 1)
    }
  }
}
