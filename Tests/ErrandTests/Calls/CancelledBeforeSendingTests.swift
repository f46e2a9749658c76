import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A call that is cancelled before its request is sent sends nothing.
@Suite(.timeLimit(.minutes(1))) struct CancelledBeforeSendingTests {
  enum Place: CaseIterable {
    case preflight, didStart, perCallStep, perAttemptStep
  }

  /// A POST that one of its hooks cancels by tag.
  private struct DoomedTask: ServerPOSTTask {
    let path = "orders"
    let taskTag = "doomed"
    let manager: TaskManager
    let place: Place

    func preflight(_ request: inout HTTPRequest) async throws {
      if place == .preflight { await manager.cancel(tag: taskTag) }
    }

    func didStart(_ request: HTTPRequest) async {
      if place == .didStart { await manager.cancel(tag: taskTag) }
    }
  }

  /// Cancels the doomed call, then sends its request.
  private struct CancellingStep: PerCallStep, PerAttemptStep {
    let manager: Shared<TaskManager?>
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      await manager.withLock { $0 }?.cancel(tag: "doomed")
      return try await next(request)
    }
  }

  @Test(arguments: Place.allCases) func `a call cancelled by a hook or step before sending sends nothing`(
    place: Place
  ) async throws {
    let manager = Shared<TaskManager?>(nil)
    var sent = 0
    for _ in 0..<50 {
      let shop = VirtualShop(
        configure: {
          if place == .perCallStep { $0.perCallSteps = [CancellingStep(manager: manager)] }
          if place == .perAttemptStep { $0.perAttemptSteps = [CancellingStep(manager: manager)] }
        }, answer: { _, request, _ in .ok(request) })
      manager.withLock { $0 = shop.manager }
      await #expect(throws: CancellationError.self) {
        try await DoomedTask(manager: shop.manager, place: place).on(shop.server).run()
      }
      sent += shop.sentCount
    }
    #expect(sent == 0)
  }

  @Test func `a POST that its hook cancels does not reach a real server`() async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.route(.post, "/orders", answer: .status(201))
    let server = mock.client()
    for _ in 0..<100 {
      await #expect(throws: CancellationError.self) {
        try await DoomedTask(manager: server.manager, place: .didStart).on(server).run()
      }
    }
    try await Task.sleep(for: .milliseconds(200))  // a request may arrive late
    #expect(mock.requestCount == 0)
  }

  enum Canceller: CaseIterable {
    case hook, observer, nobody
  }

  /// A POST that runs a closure in `didStart`.
  private struct HookedTask: ServerPOSTTask {
    let path = "orders"
    let hook: @Sendable () -> Void
    func didStart(_ request: HTTPRequest) async { hook() }
  }

  /// Runs a closure when the first attempt starts.
  private struct StartObserver: TaskObserver {
    let delivery = ObserverDelivery.inline
    let action: @Sendable () -> Void
    func observe(_ event: TaskEvent) {
      if event.moment.description.hasPrefix("attempt 1 started") { action() }
    }
  }

  @Test(arguments: Canceller.allCases)
  func `a call that a hook or observer cancels synchronously sends nothing`(canceller: Canceller) async throws {
    let manager = Shared<TaskManager?>(nil)
    // Does the same as `cancelAll()`, but without suspending.
    let cancel: @Sendable () -> Void = { _ = manager.withLock { $0 }?.calls.cancel { _ in true } }
    let shop = VirtualShop(
      configure: {
        $0.retryPolicy = .never
        if canceller == .observer { $0.observers = [StartObserver(action: cancel)] }
      }, answer: { _, request, _ in .ok(request) })
    manager.withLock { $0 = shop.manager }
    let task = HookedTask { if canceller == .hook { cancel() } }.on(shop.server)
    let result = await Task { try await task.run() }.result
    #expect(((try? result.get()) != nil) == (canceller == .nobody))
    #expect(shop.sentCount == (canceller == .nobody ? 1 : 0))
  }

  @Test func `a call cancelled in willRetry sends no further request`() async throws {
    struct Retried: ServerTask {
      let path = "widgets/7"
      let manager: Shared<TaskManager?>
      func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {
        await manager.withLock { $0 }?.cancelAll()
      }
    }
    let manager = Shared<TaskManager?>(nil)
    let shop = VirtualShop(.autoAdvancing) { _, request, _ in .unavailable(request) }
    manager.withLock { $0 = shop.manager }
    await #expect(throws: CancellationError.self) { try await Retried(manager: manager).on(shop.server).run() }
    #expect(shop.sentCount == 1 && shop.events.isBalanced)
  }

  @Test func `a shared request whose only call is already cancelled is not sent`() async throws {
    struct Cancelling: PerCallStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await next(request)
      }
    }
    var sent = 0
    for _ in 0..<200 {
      let shop = CachedShop(
        configure: {
          ($0.coalescesRequests, $0.cache) = (true, nil)
          $0.perCallSteps = [Cancelling()]
        }, answer: { _, request in .text("a", for: request) })
      _ = await Task { try await shop.task().download() }.result
      #expect(await eventually { shop.server.manager.callCount == 0 && shop.events.isBalanced })
      sent += shop.sentCount
    }
    #expect(sent == 0)
  }
}
