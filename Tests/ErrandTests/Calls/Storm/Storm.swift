import ErrandTesting
import Foundation

@testable import Errand

/// Runs random operations on a server, with concurrent workers.
struct Storm: Sendable {
  private static let workers = 32
  private static let retries = 1_000_000

  let ledger = StormLedger()
  private let seed: UInt64
  private let sharesRequests: Bool
  private let clock = StormClock()
  private let audit = EventAudit()
  private let app: StormApp
  private let server: Server
  private let folder: URL

  /// Creates a storm whose calls either share requests or run per-attempt steps. A server with per-attempt steps does
  /// not share requests.
  init(_ limits: ThrottleLimits, sharesRequests: Bool, seed: UInt64, folder: URL) {
    let app = StormApp(seed: seed, clock, ledger)
    let tokens = StormTokens(app)
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.observers = [audit, ledger]
    configuration.cache = StormApp.Store(app: app)
    configuration.coalescesRequests = sharesRequests
    configuration.retryPolicy.baseDelay = .ticks(4)
    configuration.authentication = .custom(tokens)
    configuration.perCallSteps = [StormApp.CallStep(app: app)]
    if !sharesRequests { configuration.perAttemptSteps = [StormApp.AttemptStep(app: app)] }
    configuration.circuitBreaker = CircuitBreaker(
      window: .ticks(100), minimumCalls: 4, failureRatio: 0.8, openDuration: .ticks(30))
    server = Server(
      "https://shop.test", configuration: configuration,
      transport: StormTransport(seed: seed, clock: clock, ledger: ledger, tokens: tokens, perHost: limits.perHost),
      // The budget is never refilled, so it shows how many retries were charged.
      manager: TaskManager(
        limits: limits, retryBudget: RetryBudget(ratio: 0, capacity: Self.retries), clock: CallClock(clock),
        random: CallRandom(SeededGenerator(seed: seed))))
    app.setServer(server)
    (self.app, self.seed, self.folder, self.sharesRequests) = (app, seed, folder, sharesRequests)
  }

  private var manager: TaskManager { server.manager }

  /// Runs the operations with the given numbers and returns the problems found.
  func run(_ numbers: Range<Int>) async -> [String] {
    let time = Task.detached { [clock] in await clock.run() }
    defer { time.cancel() }
    let workers = (0..<Self.workers).map { worker in
      Task.detached {
        for number in numbers where number % Self.workers == worker {
          await run(StormOperation(number, seed: seed))
        }
      }
    }
    defer { for worker in workers { worker.cancel() } }
    if await hangs(until: { ledger.endedCount == numbers.count }) {
      return ledger.faults + ["\(ledger.open.count) operations have not ended:"] + ledger.open.map { "\($0)" } + remains
    }
    // Background calls end a little later.
    _ = await hangs(.seconds(20), until: { remains.isEmpty })
    return ledger.faults + remains
  }

  /// Waits for `condition`. Returns whether the wait failed because no operation ended within `limit` of real time.
  private func hangs(_ limit: Duration = .seconds(60), until condition: () -> Bool) async -> Bool {
    var (ended, end) = (-1, ContinuousClock.now)
    while !condition() {
      if ledger.endedCount != ended { (ended, end) = (ledger.endedCount, .now + limit) }
      if ContinuousClock.now > end { return true }
      try? await Task.sleep(for: .milliseconds(5))  // returns early if the test is cancelled
      if Task.isCancelled { return true }
    }
    return false
  }

  /// Descriptions of resources that have not been released and calls that have not ended.
  private var remains: [String] {
    let paid = Origin(.known("https://paid.test/")).map { Self.retries - Int(manager.retriesLeft(for: $0)) } ?? -1
    let counts = [
      ("calls", manager.callCount), ("slots", manager.runningCount), ("waiting", manager.waitingCount),
      ("streams", manager.throttle.streams), ("hosts", manager.throttle.hosts.count),
      ("sleepers", clock.sleeperCount), ("requests", ledger.runningCount), ("bodies", ledger.bodyCount),
      ("overcharged retries", paid - ledger.paid),
    ]
    let events = audit.isAtRest ? audit.problems : ["events: some calls have not ended"] + audit.problems
    return counts.filter { $0.1 != 0 }.map { "\($0.0): \($0.1)" } + events.prefix(20)
  }

  /// The features that the storm has not tested often enough.
  var missing: [String] {
    let wanted = [
      "succeeded", "cancelled", "turn", "queued", "redirected", "refreshed", "retried", "hedged",
      "cache answered", "cache validated", "badStatus", "connectionLost", "cannotConnect", "timedOut", "circuitOpen",
      "notCached", "reentrant queue", sharesRequests ? "joined" : "attempt step calls", "call step calls",
      "store calls", "hook calls", "refresh fails", "refresh calls", "body calls", "paused",
    ]
    // A hedge needs a second slot.
    let isHedged = manager.limits.perHost != 1
    return wanted.filter { ledger.counts[$0] ?? 0 < 10 && ($0 != "hedged" || isHedged) }
  }

  // MARK: Operations

  private func run(_ operation: StormOperation) async {
    ledger.begin(operation)
    defer { ledger.end(operation) }
    do {
      switch operation.disturbance {
      case .none, .handle: try await perform(operation)
      case .cancelCaller: try await disturbed(operation) { $0.cancel() }
      case .cancelTag: try await disturbed(operation) { _ in await manager.cancel(tag: operation.tag) }
      case .cancelAll: try await disturbed(operation) { _ in await manager.cancelAll() }
      }
      ledger.count("succeeded")
    } catch {
      ledger.note(error, of: operation)
    }
  }

  private func disturbed(
    _ operation: StormOperation, _ disturb: (Task<Void, any Error>) async -> Void
  ) async throws {
    let work = Task { try await perform(operation) }
    try? await clock.sleep(for: operation.delay)  // ends early if the storm is cancelled
    await disturb(work)
    try await work.value
  }

  private func perform(_ operation: StormOperation) async throws {
    let task = StormTask(operation, server, app)
    let file = folder.appendingPathComponent("\(operation.number)")
    defer {
      if operation.way == .file || operation.way == .fileHandle { try? FileManager.default.removeItem(at: file) }
    }
    switch operation.way {
    case .run: try await task.run()
    case .data: _ = try await task.downloadData()
    case .file: _ = try await task.download(to: file)
    case .stream: try await read(task.stream(), operation)
    case .handle: try await follow(manager.start(task), operation)
    case .fileHandle: try await follow(manager.start(task, downloadingTo: file), operation)
    }
  }

  private func read(_ response: HTTPResponse, _ operation: StormOperation) async throws {
    guard let chunks = operation.chunks else {
      for try await _ in response.body {}
      return
    }
    try await clock.sleep(for: operation.delay)
    guard chunks > 0 else { return }
    for try await _ in response.body { return }
  }

  /// Pauses, resumes, cancels or retries a started call, or does nothing.
  private func follow(_ handle: TaskHandle<some Sendable>, _ operation: StormOperation) async throws {
    guard case .handle(let seed) = operation.disturbance else {
      _ = try await handle.value
      return
    }
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      try await clock.sleep(for: .ticks(Int.random(in: 0...6, using: &random)))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: if handle.pause() { ledger.count("paused") }
      case 5..<8: handle.resume()
      case 8: handle.cancel()
      default: return  // a paused call is resumed when its last handle is released
      }
    }
    handle.resume()
    do {
      _ = try await handle.value
    } catch {
      guard Int.random(in: 0..<3, using: &random) == 0, handle.retry() else { throw error }
      _ = try await handle.value
    }
  }
}
