import Errand
import ErrandTesting
import Foundation
import Testing

/// A call on sockets has no Swift task of its own: each thing that it waits for must hear that it is to end.
@Suite(.timeLimit(.minutes(10))) struct CancelledAnywhereTests {
  /// What a call waits for, for ever.
  enum Moment: CaseIterable {
    case preflight, computedHeaders, slot, head, body, delay, postProcess, postflight
  }

  private struct PostProcessingTask: ServerTask {
    var path = "plain"
    let wait: @Sendable () async throws -> Void
    func postProcess(response: HTTPResponse) async throws { try await wait() }
  }

  private let shop: Shop
  private let waiting = AsyncStream<Void>.makeStream()
  private let never = AsyncStream<Void>.makeStream()

  init() throws { shop = try Shop(limits: ThrottleLimits(perHost: 1)) }

  /// Makes a call that waits for ever at `moment`, and returns when it does.
  private func call(stuckAt moment: Moment, deadline: Duration = .seconds(3600)) async throws -> Task<
    HTTPResponse, any Error
  > {
    let begun = waiting.continuation
    let never = never.stream
    let wait: @Sendable () async throws -> Void = {
      begun.yield()
      for await _ in never {}
      try Task.checkCancellation()
    }
    shop.mock.route("/plain") { _ in .text("ok") }
    shop.mock.route("/hang", answer: .hang)
    shop.mock.route("/drip") { _ in .data(Data(count: 10)).throttled(bytes: 1, every: .seconds(3600)) }
    shop.mock.route("/busy") { _ in .status(.serviceUnavailable).header("Retry-After", "60") }
    var task: any ServerTask = PlainTask()
    switch moment {
    case .preflight: await shop.server.update { $0.preflight = { _, _ in try await wait() } }
    case .postflight: await shop.server.update { $0.postflight = { _, _ in try await wait() } }
    case .computedHeaders:
      await shop.server.update {
        $0.computedHeaders = { _ in
          try await wait()
          return [:]
        }
      }
    case .postProcess: task = PostProcessingTask(wait: wait)
    case .head, .slot: task = PlainTask(path: "hang")
    case .body: task = PlainTask(path: "drip")
    case .delay: task = PlainTask(path: "busy")
    }
    func started(_ task: some ServerTask, _ deadline: Duration) -> Task<HTTPResponse, any Error> {
      Task { [shop] in try await task.on(shop.server).deadline(deadline).run() }
    }
    if moment == .slot {
      _ = started(task, .seconds(3600))
      #expect(await eventually { shop.server.manager.runningCount == 1 })
    }
    let call = started(task, deadline)
    switch moment {
    case .slot: #expect(await eventually { shop.server.manager.waitingCount == 1 })
    case .head, .body: #expect(await eventually { shop.mock.requests.count == 1 })
    case .delay: #expect(await eventually { shop.mock.requests.count == 1 && shop.server.manager.runningCount == 0 })
    default: for await _ in waiting.stream { break }
    }
    return call
  }

  @Test(arguments: Moment.allCases) func `cancelAll ends a call wherever it is, and the next one succeeds`(
    moment: Moment
  ) async throws {
    let call = try await call(stuckAt: moment)
    await shop.server.manager.cancelAll()
    await #expect(throws: CancellationError.self) { try await call.value }
    try await expectQuietShop()
  }

  @Test(arguments: Moment.allCases) func `cancelling whoever awaits a call ends it wherever it is`(moment: Moment)
    async throws
  {
    let call = try await call(stuckAt: moment)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    await shop.server.manager.cancelAll()  // the one that has the slot
    try await expectQuietShop()
  }

  @Test(arguments: Moment.allCases.filter { $0 != .delay }) func `a deadline ends a call wherever it is`(moment: Moment)
    async throws
  {
    let call = try await call(stuckAt: moment, deadline: .seconds(2))
    let error = await #expect(throws: TaskError.self) { try await call.value }
    #expect(error?.timer == .call, "\(String(describing: error))")
    await shop.server.manager.cancelAll()
    try await expectQuietShop()
  }

  private func expectQuietShop() async throws {
    await shop.server.update { ($0.preflight, $0.postflight, $0.computedHeaders) = (nil, nil, nil) }
    #expect(await eventually { shop.isQuiet })
    #expect(try await PlainTask().on(shop.server).downloadData() == Data("ok".utf8))
    try await shop.mock.waitForOpenConnections(1)
  }
}
