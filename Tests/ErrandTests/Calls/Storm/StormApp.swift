import ErrandTesting
import Foundation

@testable import Errand

/// App code that the library calls and that makes calls itself: a cache store, steps and an authenticator.
final class StormApp: Sendable {
  let seed: UInt64
  let clock: StormClock
  let ledger: StormLedger
  private let home = Shared<Server?>(nil)
  private let number = Shared(0)

  init(seed: UInt64, _ clock: StormClock, _ ledger: StormLedger) {
    (self.seed, self.clock, self.ledger) = (seed, clock, ledger)
  }

  func setServer(_ server: Server) { home.withLock { $0 = server } }

  /// Makes a call about once in every `rarity` invocations.
  func callSometimes(_ rarity: UInt64, _ name: String) async throws {
    let number = number.withLock { number in
      number += 1
      return number
    }
    var random = SeededGenerator(seed: seed &+ UInt64(number))
    guard random.next() % rarity == 0 else { return }
    ledger.count(name)
    try await call()
  }

  func call(_ authentication: Authentication = .inherited, _ queue: SerialQueue = .none) async throws {
    guard let server = home.withLock({ $0 }) else { return }
    let task = ShopTask(path: "inner", httpMethod: .post).on(server)
    try await task.authenticated(authentication).serialQueue(queue).run()
  }

  /// Whether steps make calls during this request. A failed call would cost a retry, like a failed response.
  static func callsSteps(_ request: HTTPRequest) -> Bool {
    !request.url.path.hasPrefix("/inner") && request.url.host != "paid.test"
  }

  /// A per-attempt step that makes calls before and after some attempts.
  struct AttemptStep: PerAttemptStep {
    let app: StormApp

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      guard StormApp.callsSteps(request) else { return try await next(request) }
      try await app.callSometimes(40, "attempt step calls")
      let response = try await next(request)
      try await app.callSometimes(40, "attempt step calls")
      return response
    }
  }

  /// A per-call step that makes other calls before and after some calls.
  struct CallStep: PerCallStep {
    let app: StormApp

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      guard StormApp.callsSteps(request) else { return try await next(request) }
      try await app.callSometimes(40, "call step calls")
      let response = try await next(request)
      try await app.callSometimes(40, "call step calls")
      return response
    }
  }

  /// Makes a call before it stores some of the responses.
  struct Store: CacheStore {
    let app: StormApp
    let memory = MemoryCache()

    func entries(for key: CacheKey) async -> [CacheEntry] { await memory.entries(for: key) }
    func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {
      try await memory.update(entry, to: response, for: key)
    }
    func remove(_ entry: CacheEntry, for key: CacheKey) async { await memory.remove(entry, for: key) }
    func removeAll(for url: String) async { await memory.removeAll(for: url) }
    func removeAll() async { await memory.removeAll() }

    func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
      try await app.callSometimes(5, "store calls")
      return try await memory.store(response, for: key)
    }
  }
}

/// An authenticator with numbered tokens. A refresh takes time, and sometimes makes a call or fails.
final class StormTokens: Authenticator {
  private let app: StormApp
  private let state = Shared((valid: 1, refreshes: 0))

  init(_ app: StormApp) { self.app = app }

  var valid: Int { state.withLock { $0.valid } }
  func revoke() { state.withLock { $0.valid += 1 } }

  func storedToken() async throws -> Int? { 1 }
  func apply(_ token: Int, to request: inout HTTPRequest) { request.headers["X-Token"] = "\(token)" }

  func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
    let number = state.withLock { state in
      state.refreshes += 1
      return state.refreshes
    }
    var random = SeededGenerator(seed: app.seed &+ UInt64(number))
    try await app.clock.sleep(for: .ticks(Int.random(in: 0...5, using: &random)))
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      app.ledger.count("refresh fails")
      throw TaskError(.authenticationFailed, "no token", phase: .authenticating)
    case 1...3:
      app.ledger.count("refresh calls")
      try await app.call(.none)
    default: break
    }
    return valid
  }
}
