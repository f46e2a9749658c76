import Errand
import ErrandTesting
import ErrandFoundation

/// Measures the overhead of the server and the manager by running trivial tasks over a stub transport, a limited number
/// at a time.
///
/// `--requests` sets the number of tasks (default one million). Exits with 1 if a task costs more than 1.2 times as
/// much as in a run with a hundredth of that number, or if memory grows by more than eight megabytes.
struct ManagerScenario: Scenario {
  struct Trivial: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Data
    let server: Server
    let path = "trivial"
  }

  let isEmbedded = true
  let defaultRequests = 1_000_000

  private static let window = 8
  private static let body = Data("{}".utf8)
  private static let transport = StubTransport { request in
    HTTPResponse(url: request.url, body: HTTPResponseBody(body))
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let server = Server("https://bench.test", transport: Self.transport, manager: TaskManager())
    let few = max(1000, options.requests / 100)
    _ = try await cost(of: few) { try await tasks($0, on: server) }  // warms up
    let direct = try await cost(of: few) { try await requests($0, to: options.url) }
    var small: [TaskCost] = []
    for _ in 0..<5 { small.append(try await cost(of: few) { try await tasks($0, on: server) }) }
    let memory = ProcessUsage.now.peakMegabytes
    let large = try await cost(of: options.requests) { try await tasks($0, on: server) }
    let growth = ProcessUsage.now.peakMegabytes - memory
    // Measure before and after, so that a change in the machine's load has no effect.
    for _ in 0..<6 { small.append(try await cost(of: few) { try await tasks($0, on: server) }) }
    small.sort { $0.processorMicroseconds < $1.processorMicroseconds }
    return ManagerReport(
      requests: options.requests, few: few, direct: direct, small: small[5], large: large,
      memoryGrowth: growth)
  }

  private func tasks(_ count: Int, on server: Server) async throws {
    let tasks = repeatElement(Trivial(server: server), count: count)
    let answered = try await server.manager.withResults(of: tasks, limit: Self.window) { results in
      await results.reduce(0) { count, element in
        if case .success(Self.body) = element.result { count + 1 } else { count }
      }
    }
    guard answered == count else { throw BenchError("\(count - answered) of \(count) tasks failed") }
  }

  private func requests(_ count: Int, to url: URL) async throws {
    for _ in 0..<count {
      let response = try await Self.transport.send(HTTPRequest(.get, url))
      guard try await response.body.collect() == Self.body else { throw BenchError("the response has the wrong body") }
    }
  }

  private func cost(of count: Int, _ body: (Int) async throws -> Void) async throws -> TaskCost {
    let before = ProcessUsage.now.processorSeconds
    let start = ContinuousClock.now
    try await body(count)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return TaskCost(
      microseconds: seconds * 1e6 / Double(count),
      processorMicroseconds: (ProcessUsage.now.processorSeconds - before) * 1e6 / Double(count))
  }
}

/// The cost of a task.
struct TaskCost {
  let microseconds: Double
  let processorMicroseconds: Double
}

/// The cost of the server and the manager per task, for few and many tasks, as one line of JSON.
struct ManagerReport: BenchReport {
  let requests: Int
  let few: Int
  let direct: TaskCost
  let small: TaskCost
  let large: TaskCost
  let memoryGrowth: Double

  private var ratio: Double { large.processorMicroseconds / small.processorMicroseconds }

  var failures: [String] {
    [
      ratio > 1.2 ? "in a run of \(requests) tasks, a task costs \(ratio) times as much as in a run of \(few)" : nil,
      memoryGrowth > 8 ? "memory grew by \(memoryGrowth) MB" : nil,
    ].compactMap(\.self)
  }

  var description: String {
    """
    {"client":"errand","scenario":"manager","requests":\(requests),\
    "microsecondsPerTask":\(large.microseconds),"cpuMicrosecondsPerTask":\(large.processorMicroseconds),\
    "cpuMicrosecondsDirect":\(direct.processorMicroseconds),\
    "cpuMicrosecondsOverhead":\(large.processorMicroseconds - direct.processorMicroseconds),\
    "cpuMicrosecondsPerTaskOf\(few)":\(small.processorMicroseconds),"ratio":\(ratio),\
    "peakResidentMegabytes":\(ProcessUsage.now.peakMegabytes),"memoryGrowthMegabytes":\(memoryGrowth)}
    """
  }
}
