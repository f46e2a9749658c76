import Errand
import Foundation

func throttledServer() -> Server {
  let manager = TaskManager(limits: ThrottleLimits(perHost: 4, rate: RateLimit(20, per: .seconds(1))))
  return Server("https://shop.example.com/v1", manager: manager)
}

func guardedServer(_ shop: Server) async {
  await shop.update {
    $0.circuitBreaker = .standard
    $0.timeouts.queue = .seconds(5)
    $0.timeouts.call = .seconds(20)
  }
}

func hedged() async throws -> Widget {
  try await GetWidget(id: 7).hedged(after: .milliseconds(200)).send()
}

func busy(_ shop: Server) -> String {
  let throttle = shop.manager.throttle
  return "\(throttle.running) run, \(throttle.waiting) wait"
}

struct RequestID: PerAttemptStep {
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    var request = request
    request.headers["X-Request-ID"] = String(UInt64.random(in: 0 ... .max), radix: 16)
    return try await next(request)
  }
}

/// Measures each attempt.
struct Stopwatch: PerAttemptStep {
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    let start = ContinuousClock.now
    defer { print(request.method, ContinuousClock.now - start) }
    return try await next(request)
  }
}

func numbered(_ shop: Server) async throws {
  try await shop.update {
    $0.perAttemptSteps.append(RequestID())
    try $0.addStep(Stopwatch(), before: "RequestID")
  }
}

struct SyncNotes: ServerPOSTTask {
  let path = "notes/sync"
  let serialQueue = SerialQueue.named("notes")
}

func inTurn(_ shop: Server) async throws -> Widget {
  let widget = try await GetWidget(id: 7).serialQueue(.named("notes")).on(shop).send()
  return widget
}

protocol SavedResponses: Sendable {
  func response(to url: URL) -> HTTPResponse?
}

func recovering(_ shop: Server, storage: any SavedResponses) async {
  await shop.update {
    $0.perCallSteps.append(
      Recovery(from: .offline) { request, error in
        guard let saved = storage.response(to: request.url) else { throw error }
        return saved
      })
  }
}
