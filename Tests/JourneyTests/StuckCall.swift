import Errand
import ErrandTesting
import Foundation
import Testing

/// A call that hangs at a given stage.
struct StuckCall {
  /// The stage at which a call hangs. Add a case for each new feature that can wait.
  enum Moment: CaseIterable {
    // In closures and hooks of the app.
    case willStart, computedHeaders, userAgent, uploadBody, preflight, didStart, verdict, willRetry, rebuild,
      postProcess,
      postflight
    // Between attempts.
    case slot, openStream, delay, retryAfter
    // During the exchange.
    case head, body, file, refusedFile, reader, sentBody
    // During redirects.
    case redirectDecision, redirectBody, nextHop
    // Around the attempts.
    case serialQueue, pause, cache, callStep, attemptStep, token, connectivity, hedge
    // With many calls.
    case window
  }

  static let deadline = Duration.seconds(3600)

  let server: Server
  let clock = ManualClock()
  private let moment: Moment
  private let mock: MockServer
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
  private let waiting = AsyncStream<Void>.makeStream()
  private let never = AsyncStream<Void>.makeStream()
  private let paused = AsyncStream<Void>.makeStream()

  /// The number of clock sleepers while the call waits: the deadline and, in some cases, a timeout or delay.
  var sleeperCount: Int {
    switch moment {
    case .delay, .retryAfter, .refusedFile, .connectivity, .redirectBody: 2
    default: 1
    }
  }

  init(_ moment: Moment) throws {
    self.moment = moment
    mock = try MockServer()
    mock.route("/plain") { _ in .text("ok") }
    mock.route("/hang", answer: .hang)
    mock.route("/drip") { _ in .data(Data(count: 10)).throttled(bytes: 1, every: .seconds(3600)) }
    mock.route("/refused") { _ in
      .data(Data(count: 10), status: .notFound).throttled(bytes: 1, every: .seconds(3600))
    }
    mock.route("/moved") { _ in .status(302).header("Location", "/plain") }
    mock.route("/away") { _ in .status(302).header("Location", "/hang") }
    mock.route("/moving") { _ in
      .data(Data(count: 10), status: 302).header("Location", "/plain").throttled(bytes: 1, every: .seconds(3600))
    }
    mock.route("/busy") { _ in .status(.serviceUnavailable) }
    mock.route("/later") { _ in .status(.serviceUnavailable).header("Retry-After", "60") }
    var configuration = ServerConfiguration()
    configuration.log = .discard
    // Other timeouts are longer than the deadline.
    configuration.defaultTimeout = Self.deadline * 10
    configuration.connectivityTimeout = Self.deadline * 10
    let limits = ThrottleLimits(perHost: moment == .slot ? 1 : 10, streamsPerHost: 1)
    server = Server(
      Remote(mock.url), configuration: configuration,
      manager: TaskManager(limits: limits, clock: CallClock(clock)))
  }

  /// Starts the call and returns once it hangs.
  func begin() async throws -> Task<Void, any Error> {
    await configure()
    try await occupy()
    let call = try start()
    await reached()
    return call
  }

  /// A closure that waits until the call is cancelled.
  private var wait: @Sendable () async throws -> Void {
    {
      [begun = waiting.continuation, never = never.stream] in
      begun.yield()
      for await _ in never {}
      try Task.checkCancellation()
    }
  }

  private func configure() async {
    let (wait, built) = (wait, Shared(0))
    await server.update { configuration in
      switch moment {
      case .preflight: configuration.preflight = { _, _ in try await wait() }
      case .postflight: configuration.postflight = { _, _ in try await wait() }
      case .userAgent:
        configuration.userAgentProvider = {
          try? await wait()
          return "tests"
        }
      case .computedHeaders:
        configuration.computedHeaders = { _ in
          try await wait()
          return [:]
        }
      case .rebuild:
        configuration.retryPolicy = .fixed(retries: 1, delay: .zero)
        configuration.preflight = { _, _ in
          let isFirst = built.withLock { built in
            built += 1
            return built == 1
          }
          if !isFirst { try await wait() }
        }
      case .verdict:
        configuration.retryPolicy = .decided { _ in
          try await wait()
          return .giveUp
        }
      case .redirectDecision:
        configuration.redirectPolicy = .decide { _, next in
          try await wait()
          return next
        }
      case .willRetry, .delay: configuration.retryPolicy = .fixed(retries: 1, delay: .seconds(60))
      case .cache: configuration.cache = WaitingCache(wait: wait)
      case .callStep: configuration.perCallSteps = [WaitingStep(wait: wait)]
      case .attemptStep: configuration.perAttemptSteps = [WaitingStep(wait: wait)]
      case .token:
        configuration.authentication = .bearer {
          try await wait()
          return "t"
        }
      case .connectivity:
        configuration.waitsForConnectivity = true
        configuration.reachability = NeverReachable(wait: wait)
      default: break
      }
    }
  }

  /// Occupies the resource for which the call waits.
  private func occupy() async throws {
    switch moment {
    case .slot:
      held(PlainTask(path: "hang").on(server))
      #expect(await eventually { server.manager.runningCount == 1 })
    case .serialQueue:
      held(PlainTask(path: "hang").on(server).serialQueue(.named("taken")))
      #expect(await eventually { mock.requests.count == 1 })
    case .openStream:
      Task { [server] in try await PlainTask(path: "drip").on(server).stream().body.collect() }
      #expect(await eventually { server.manager.throttle.streams == 1 })
    default: break
    }
  }

  private func held(_ task: some ServerTask) { Task { try await task.run() } }

  private func start() throws -> Task<Void, any Error> {
    let (server, moment) = (server, moment)
    let path =
      switch moment {
      case .slot, .head, .serialQueue, .hedge, .window: "hang"
      case .body, .file, .reader, .openStream: "drip"
      case .refusedFile: "refused"
      case .verdict, .willRetry, .delay, .rebuild: "busy"
      case .retryAfter: "later"
      case .redirectDecision: "moved"
      case .redirectBody: "moving"
      case .nextHop: "away"
      default: "plain"
      }
    let hooked = StuckTask(path: path, moment: moment, wait: wait, paused: paused.stream)
    var task = hooked.on(server).deadline(Self.deadline)
    if moment == .serialQueue { task = task.serialQueue(.named("taken")) }
    switch moment {
    case .reader, .openStream: return Task { [task] in _ = try await task.stream().body.collect() }
    case .file, .refusedFile: return Task { [task, folder] in try await task.download(to: folder) }
    case .hedge: return Task { [task] in try await task.hedged(after: .zero).run() }
    case .connectivity:
      return Task { [deadline = Self.deadline] in
        try await URLTask(Self.nowhere).on(server).deadline(deadline).run()
      }
    case .window:
      return Task { [task] in for await (_, result) in server.results(of: [task, task]) { _ = try result.get() } }
    case .pause:
      let handle = server.manager.start(task)
      handle.pause()
      paused.continuation.yield()
      return Task {
        _ = try await withTaskCancellationHandler {
          try await handle.value
        } onCancel: {
          handle.cancel()
        }
      }
    default: return Task { [task] in try await task.run() }
    }
  }

  /// A port without a listener.
  private static let nowhere = URL(string: "http://127.0.0.1:1/") ?? URL(fileURLWithPath: "/")

  /// Returns once the call hangs.
  private func reached() async {
    let manager = server.manager
    switch moment {
    case .slot, .openStream: #expect(await eventually { manager.waitingCount == 1 })
    case .serialQueue: #expect(await eventually { manager.callCount == 2 })
    case .head, .body, .file, .refusedFile, .reader: #expect(await eventually { mock.requests.count == 1 })
    case .delay, .retryAfter, .redirectBody: await clock.sleepers(count: sleeperCount)
    case .pause: await clock.sleepers(count: 1)  // the call was paused before it started
    case .hedge, .window, .nextHop: #expect(await eventually { mock.requests.count == 2 })
    default: for await _ in waiting.stream { break }
    }
  }

  func expectQuietShop() async throws {
    await server.manager.cancelAll()  // ends the calls that occupy the resource
    await server.update {
      ($0.preflight, $0.postflight, $0.computedHeaders, $0.userAgentProvider) = (nil, nil, nil, nil)
      ($0.perCallSteps, $0.perAttemptSteps, $0.authentication, $0.cache) = ([], [], .none, nil)
    }
    let manager = server.manager
    #expect(await eventually { manager.callCount == 0 && manager.runningCount == 0 && manager.waitingCount == 0 })
    #expect(try await PlainTask().on(server).downloadData() == Data("ok".utf8))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }
}

private struct WaitingCache: CacheStore {
  let wait: @Sendable () async throws -> Void

  func entries(for key: CacheKey) async -> [CacheEntry] {
    try? await wait()
    return []
  }
  func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
    throw CancellationError()
  }
  func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {}
  func remove(_ entry: CacheEntry, for key: CacheKey) async {}
  func removeAll(for url: String) async {}
  func removeAll() async {}
}

private struct WaitingStep: PerCallStep, PerAttemptStep {
  let wait: @Sendable () async throws -> Void
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    try await wait()
    return try await next(request)
  }
}

private struct NeverReachable: Reachability {
  let wait: @Sendable () async throws -> Void
  func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws { try await wait() }
}
