import ErrandTesting
import Foundation

@testable import Errand

/// Records the events and requests of a storm and any rules that the storm has broken.
final class StormLedger: TaskObserver {
  /// The outcome of a request that must be sent only once.
  enum Fate { case pending, notSent, answered(HTTPStatus) }

  private struct State {
    var open: [Int: StormOperation] = [:]
    var ended = 0
    var fates: [String: Fate] = [:]
    var running: [String: Int] = [:]
    var bodies = 0
    /// The calls that have sent a request to the host whose retries are counted.
    var begun: Set<String> = []
    var paid = 0
    var counts: [String: Int] = [:]
    var faults: [String] = []
    var sent = 0

    mutating func fault(_ text: String) { if faults.count < 20 { faults.append(text) } }
  }

  private let state = Shared(State())

  // MARK: Operations

  func begin(_ operation: StormOperation) { state.withLock { $0.open[operation.number] = operation } }

  func end(_ operation: StormOperation) {
    state.withLock { state in
      state.open[operation.number] = nil
      state.ended += 1
    }
  }

  var endedCount: Int { state.withLock { $0.ended } }
  var open: [StormOperation] { state.withLock { $0.open.values.sorted { $0.number < $1.number } } }

  func count(_ name: String) { state.withLock { $0.counts[name, default: 0] += 1 } }
  var counts: [String: Int] { state.withLock { $0.counts } }

  func fault(_ text: String) { state.withLock { $0.fault(text) } }
  var faults: [String] { state.withLock { $0.faults } }

  /// Counts the error of a call and records the error if it is unexpected.
  func note(_ error: any Error, of operation: StormOperation) {
    switch error {
    case is CancellationError: count("cancelled")
    case let error as TaskError:
      count("\(error.code)")
      if !Self.expected.contains(error.code) { fault("unexpected error: \(error)\nof \(operation)") }
    default: fault("unexpected error: \(error)\nof \(operation)")
    }
  }

  private static let expected: Set<TaskError.Code> = [
    .badStatus, .connectionLost, .cannotConnect, .timedOut, .circuitOpen, .queueFull, .notCached, .tooManyRedirects,
    .authenticationFailed, .bodyNotReplayable, .reentrantQueue,
  ]

  // MARK: Requests

  var paid: Int { state.withLock { $0.paid } }
  var bodyCount: Int { state.withLock { $0.bodies } }
  var runningCount: Int { state.withLock { $0.running.values.reduce(0, +) } }

  func nextNumber() -> Int {
    state.withLock { state in
      state.sent += 1
      return state.sent
    }
  }

  /// Records the arrival of a request. `limit` is the maximum number of requests that hold a slot, or 0 for no limit.
  func arrive(_ request: HTTPRequest, limit: Int) {
    let (host, name) = (request.url.host ?? "", request.headers["X-Storm"])
    state.withLock { state in
      if request.headers["X-Streamed"] == nil {
        state.running[host, default: 0] += 1
        if limit > 0, state.running[host] ?? 0 > limit { state.fault("more than \(limit) requests at \(host)") }
      }
      guard let name, Self.isOnceOnly(request) else { return }
      switch state.fates[name] {
      case nil, .notSent, .answered(.unauthorized): break
      case .answered(let status) where status.isRedirect: break
      case let fate?:
        state.fault("sent \(request.method) \(request.url) of operation \(name) again after '\(fate)'")
      }
      state.fates[name] = .pending
    }
  }

  /// Records the end of a request. `fate` is `nil` if the request may have reached the server but received no response.
  func leave(_ request: HTTPRequest, _ fate: Fate?) {
    let host = request.url.host ?? ""
    state.withLock { state in
      if request.headers["X-Streamed"] == nil { state.running[host, default: 0] -= 1 }
      let isSent = if case .notSent = fate { false } else { true }
      guard let name = request.headers["X-Storm"] else { return }
      if let fate, Self.isOnceOnly(request) { state.fates[name] = fate }
      // The first request of a call costs no retry.
      if isSent, host == "paid.test", !state.begun.insert(name).inserted { state.paid += 1 }
    }
  }

  /// Whether the request must not be sent twice. If a redirect changes a POST to a GET, the GET can be sent twice.
  private static func isOnceOnly(_ request: HTTPRequest) -> Bool {
    guard let methods = request.headers["X-Once"] else { return false }
    return methods == "any method" || request.method == .post
  }

  func openBody() { state.withLock { $0.bodies += 1 } }
  func closeBody() { state.withLock { $0.bodies -= 1 } }

  // MARK: Events

  var delivery: ObserverDelivery { .inline }

  func observe(_ event: TaskEvent) {
    let name: String? =
      switch event.moment {
      case .turnWaitStarted: "turn"
      case .queued: "queued"
      case .redirected: "redirected"
      case .refreshStarted: "refreshed"
      case .delayStarted: "retried"
      case .hedgeSent: "hedged"
      case .joined: "joined"
      case .cacheAnswered: "cache answered"
      case .cacheValidated: "cache validated"
      default: nil
      }
    if let name { count(name) }
  }
}
