import Errand

func throttledServer() -> Server {
  let manager = TaskManager(limits: ThrottleLimits(perHost: 4, rate: RateLimit(20, per: .seconds(1))))
  return Server(remote: "https://shop.example.com/v1", manager: manager)
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

struct TraceParent: PerAttemptStep {
  let trace: String  // 32 hexadecimal digits

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    var request = request
    let span = String(UInt64.random(in: 1 ... .max), radix: 16)
    request.headers["traceparent"] = "00-\(trace)-\(String(repeating: "0", count: 16 - span.count))\(span)-01"
    return try await next(request)
  }
}

func traced(_ shop: Server, trace: String) async {
  await shop.update { $0.perAttemptSteps.append(TraceParent(trace: trace)) }
}
