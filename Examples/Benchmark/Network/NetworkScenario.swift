import Errand
import ErrandFoundation
import ErrandTesting

/// Takes the only network interface down and up while a call waits for a network. Requires Linux, `unshare` and `ip`.
struct NetworkScenario: Scenario {
  let isEmbedded = true

  private static let inside = """
    set -e
    ip link set lo up
    exec "$@"
    """

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    try NamespaceReport(script: Self.inside, folder: "/tmp", scenario: "network-inside", [])
  }
}

/// The run inside the namespace of ``NetworkScenario``.
struct NetworkChangeScenario: Scenario {
  let isEmbedded = true

  /// Waits for an hour, so that only the system's report can end a wait earlier.
  private struct NoPolling: Reachability {
    let waits = Shared(0)

    func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
      waits.withLock { $0 += 1 }
      try await clock.sleep(for: .seconds(3600))
    }
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let mock = try MockServer()
    mock.route("/*", answer: .text("hello"))
    let polling = NoPolling()
    let server = Server(mock.url) {
      $0.waitsForConnectivity = true
      $0.reachability = SystemReachability(polling: polling)
      $0.connectivityTimeout = .seconds(10)
      $0.retryPolicy = .never
    }
    var report = NetworkReport()
    try ip("link", "set", "lo", "down")
    try ip("address", "flush", "dev", "lo")  // with an address but no link, a connection attempt doesn't fail
    let call = Task { try await URLTask(mock.url).on(server).downloadData() }
    guard await eventually({ polling.waits.withLock { $0 } == 1 && Self.socketCount == 1 }) else {
      throw BenchError("the call doesn't wait for the kernel; netlink sockets: \(Self.socketCount)")
    }
    try ip("link", "set", "lo", "up")
    let start = ContinuousClock.now
    guard try await call.value == Data("hello".utf8) else { throw BenchError("the server sent another body") }
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    report.waits = polling.waits.withLock { $0 }
    _ = await eventually { Self.socketCount == 0 }
    report.socketsLeft = Self.socketCount
    return report
  }

  private func ip(_ words: String...) throws {
    let code = try ChildProcess(["/usr/bin/env", "ip"] + words).wait()
    guard code == 0 else { throw BenchError("ip \(words.joined(separator: " ")) failed (exit code \(code))") }
  }

  /// The number of processes' netlink sockets in the namespace. The kernel's own sockets have the port ID 0.
  private static var socketCount: Int {
    let table = (try? String(contentsOfFile: "/proc/self/net/netlink", encoding: .utf8)) ?? ""
    return table.split(separator: "\n").dropFirst().count { line in
      let fields = line.split(whereSeparator: \.isWhitespace)
      return fields.count > 2 && fields[2] != "0"
    }
  }
}

/// How a call reacted to a network change.
struct NetworkReport: BenchReport {
  /// The time from the change to the end of the call.
  var seconds = 0.0
  var waits = 0
  /// The netlink sockets that are open after the call.
  var socketsLeft = 0

  var failures: [String] {
    var failures: [String] = []
    if seconds >= 1 { failures.append("the change was noticed after \(seconds) s") }
    if waits != 1 { failures.append("the call waited \(waits) times") }
    if socketsLeft != 0 { failures.append("\(socketsLeft) sockets were not closed") }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"network","secondsToNotice":\(seconds),"waits":\(waits),"socketsLeft":\(socketsLeft)}
    """
  }
}
