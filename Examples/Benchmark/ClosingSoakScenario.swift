import Errand
import ErrandTesting
import ErrandFoundation

/// Makes many TLS calls to a server that closes connections at random: with an announcement, after a response, while
/// idle, before a response, in its head or body, or with a reset. The number of descriptors must not grow, no POST may
/// be received twice, and every body must be correct.
struct ClosingSoakScenario: Scenario {
  let defaultRequests = 200_000
  let defaultConcurrency = 16
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    _ = Server("https://bench.test", transport: StubTransport { HTTPResponse(url: $0.url) })
    let peer = try FuzzPeer(options)
    defer { peer.stop() }
    var secure = options
    secure.authorities = peer.folder.appendingPathComponent("ca.pem")
    let server = Server(
      Remote(try peer.closing("")), transport: try secure.transport(),
      manager: TaskManager(limits: ThrottleLimits(perHost: options.concurrency), retryBudget: .unlimited))
    let tally = Shared(ClosingSoakReport(concurrency: options.concurrency))
    let start = ContinuousClock.now
    let portion = max(options.concurrency, options.requests / 20)
    while tally.withLock({ $0.calls }) < options.requests {
      _ = try await BenchResult.measure("soak-closing", options.with(requests: portion)) {
        let number = tally.withLock { report in
          report.calls += 1
          return report.calls
        }
        let end = await Self.once(number, try peer.closing("x/\(number)"), on: server)
        tally.withLock { $0.ends[end, default: 0] += 1 }
        return 0
      }
      let descriptors = ProcessFootprint.now.descriptors
      tally.withLock { $0.samples.append(descriptors) }
    }
    let response = try await URLTask(try peer.control("summary")).on(server).downloadData()
    var report = tally.withLock { $0 }
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    report.peer = String(decoding: response, as: UTF8.self)
    report.sentTwice = try JSONDecoder().decode(Summary.self, from: response).sentTwice
    return report
  }

  private struct Summary: Decodable { let sentTwice: Int }

  /// Makes a call and returns its outcome.
  private static func once(_ number: Int, _ url: URL, on server: Server) async -> String {
    let isPost = number.isMultiple(of: 4)
    let task = URLTask(url, method: isPost ? .post : .get, body: isPost ? .text("call") : .empty).on(server)
      .retry(.fixed(retries: 2, delay: .milliseconds(1)))
    do {
      let data = try await task.downloadData()
      return data == Data("call \(number)".utf8) ? "success" : "wrong"
    } catch let error as TaskError {
      return "\(isPost ? "POST" : "GET") \(error.code.name)"
    } catch {
      return "\(type(of: error))"
    }
  }
}

/// The results, with the number of descriptors after each twentieth of the calls.
struct ClosingSoakReport: BenchReport {
  let concurrency: Int
  var calls = 0
  var seconds = 0.0
  var ends: [String: Int] = [:]
  var samples: [Int] = []
  var sentTwice = 0
  /// The server's counters.
  var peer = ""

  /// The growth in descriptors since the second sample.
  var descriptorsGrown: Int {
    let later = samples.dropFirst()
    return (later.max() ?? 0) - (later.first ?? 0)
  }

  var failures: [String] {
    var failures: [String] = []
    if descriptorsGrown > concurrency { failures.append("\(descriptorsGrown) descriptors more: \(samples)") }
    if sentTwice > 0 { failures.append("\(sentTwice) POSTs were received twice") }
    if let wrong = ends["wrong"] { failures.append("\(wrong) calls succeeded with another call's body") }
    let internals = ends.filter { $0.key.hasSuffix("internal") }.values.reduce(0, +)
    if internals > 0 { failures.append("\(internals) calls failed with .internal") }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"soak-closing","calls":\(calls),"concurrency":\(concurrency),"seconds":\(seconds),\
    "callsPerSecond":\(Double(calls) / seconds),"descriptors":\(samples),"ends":\(FuzzReport.json(ends)),\
    "server":\(peer)}
    """
  }
}
