import ErrandTesting
import Foundation

@testable import Errand

/// The task of an operation. Its hooks and its body can make calls.
struct StormTask: ServerTask {
  let operation: StormOperation
  let server: Server
  let app: StormApp
  /// The number of calls made so far. A handle that retries makes another call.
  private let calls = Shared(0)

  init(_ operation: StormOperation, _ server: Server, _ app: StormApp) {
    (self.operation, self.server, self.app) = (operation, server, app)
  }

  var path: String { operation.path }
  var httpMethod: HTTPMethod { operation.method }
  var taskTag: String { operation.tag }
  var priority: CallPriority { operation.priority }
  var idempotency: Idempotency { operation.idempotency }
  var cachePolicy: CachePolicy { operation.cachePolicy }
  var serialQueue: SerialQueue { operation.queue.map { .named("queue \($0)") } ?? .none }
  var timeout: Duration { operation.timeout ?? .inherited }
  var timeouts: Timeouts { Timeouts(queue: operation.queueLimit, call: operation.deadline) }
  var hedging: Hedging { operation.hedges == 0 ? .none : .after(.ticks(5), maximum: operation.hedges) }

  var retryPolicy: RetryPolicy {
    guard operation.attempts != 3 else { return .inherited }
    var policy = RetryPolicy.attempts(operation.attempts)
    policy.baseDelay = .ticks(4)
    return policy
  }

  var headers: HTTPHeaders {
    var headers = HTTPHeaders()
    if operation.isStreamed { headers["X-Streamed"] = "1" }
    if operation.hedges > 0, operation.feature == .paid { headers["X-Hedged"] = "1" }
    if operation.isOnceOnly { headers["X-Once"] = operation.idempotency == .neverRepeat ? "any method" : "POST" }
    return headers
  }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    switch operation.body {
    case .none: .empty
    case .bytes: .text("storm")
    case .produced:
      .stream { [app] in
        app.ledger.count("body calls")
        let (chunks, producer) = AsyncThrowingStream<Data, any Error>.makeStream()
        Task.detached {
          producer.yield(Data("storm".utf8))
          try? await app.call()  // only the chunks matter
          producer.yield(Data("storm".utf8))
          producer.finish()
        }
        return chunks
      }
    }
  }

  func preflight(_ request: inout HTTPRequest) async throws {
    if operation.feature == .digest { request.options.digest = Credential(user: "ann", password: "sesame") }
    // Requests that are otherwise equal can be coalesced.
    if operation.feature != .cached { request.headers["X-Storm"] = "\(operation.number)/\(calls.withLock { $0 })" }
  }

  func willStart() async {
    calls.withLock { $0 += 1 }
    try? await callIfNested(.willStart)  // this hook can't fail
  }

  func didStart(_ request: HTTPRequest) async { try? await callIfNested(.didStart) }  // this hook can't fail
  func postProcess(response: HTTPResponse) async throws { try await callIfNested(.postProcess) }
  func postflight(response: HTTPResponse) async throws { try await callIfNested(.postflight) }
  func didComplete(with response: HTTPResponse) async { try? await callIfNested(.didComplete) }  // this hook can't fail

  private func callIfNested(_ place: StormOperation.Nested) async throws {
    guard operation.nested == place else { return }
    app.ledger.count("hook calls")
    try await app.call()
    // The other hooks run before the call enters its queue or after it leaves the queue.
    guard let queue = operation.queue, place == .didStart || place == .postflight else { return }
    do {
      try await app.call(.inherited, .named("queue \(queue)"))
      app.ledger.fault("a call entered the queue that its surrounding call holds: \(operation)")
    } catch let error as TaskError where error.code == .reentrantQueue {
      app.ledger.count("reentrant queue")
    } catch is CancellationError {}
  }
}
