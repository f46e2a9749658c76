import Errand
import ErrandFoundation

/// Calls hosts that ``AddressPolicy/publicOnly`` must block: unusual literals, names whose addresses change between
/// lookups, redirects and proxies. The kernel counts the connections.
///
/// The run has its own network namespace, in which this machine accepts connections to every address and the peer
/// answers DNS queries. A connection to any address would therefore succeed and be counted. Requires Linux, `unshare`,
/// `ip` and Python.
struct AddressesScenario: Scenario {
  let defaultRequests = 100_000
  let defaultConcurrency = 64
  let isEmbedded = true

  private static let inside = """
    set -e
    printf 'nameserver 127.0.0.1\\noptions timeout:5 attempts:4\\n' >"$0/resolv.conf"
    mount --bind "$0/resolv.conf" /etc/resolv.conf
    ip link set lo up
    ip route add local default dev lo
    ip -6 route add local default dev lo
    exec "$@"
    """

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-addresses-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try NamespaceReport(
      script: Self.inside, folder: folder.path, scenario: "addresses-inside",
      ["--requests", "\(options.requests)", "--concurrency", "\(options.concurrency)"]
        + ["--seed", "\(options.seed)", "--seconds", "\(options.seconds)"])
  }
}

/// The run inside the namespace of ``AddressesScenario``.
struct AddressCallsScenario: Scenario {
  let defaultRequests = 100_000
  let defaultConcurrency = 64
  let isEmbedded = true

  /// The number of calls per transport, because a transport caches names.
  private static let round = 1000

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let peer = try AddressPeer(options)
    var report = AddressReport(concurrency: options.concurrency)
    let start = ContinuousClock.now
    var dice = Dice(seed: UInt64(options.seed))
    while report.calls < options.requests, ContinuousClock.now - start < .seconds(options.seconds) {
      let count = min(Self.round, options.requests - report.calls)
      let calls = (0..<count).map { _ in AddressCall.random(&dice) }
      try await make(calls, options) { report.count($0, $1) }
    }
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    report.summary = try peer.summary()
    return report
  }

  /// Makes calls on new servers, one direct and one with a proxy.
  private func make(_ calls: [AddressCall], _ options: BenchOptions, counted: (AddressCall, String) -> Void)
    async throws
  {
    let servers = try (direct: server(nil, calls), proxied: server(AddressPeer.proxy, calls))
    var waiting = calls[...]
    await withTaskGroup(of: (AddressCall, String).self) { group in
      func next() {
        guard let call = waiting.popFirst() else { return }
        let server = call.kind == .proxy ? servers.proxied : servers.direct
        group.addTask { (call, await call.end(on: server)) }
      }
      for _ in 0..<options.concurrency { next() }
      while let (call, end) = await group.next() {
        counted(call, end)
        next()
      }
    }
  }

  private func server(_ proxy: Proxy?, _ calls: [AddressCall]) throws -> Server {
    #if os(Linux)
      var transport = CurlTransport.Configuration()
      if let proxy { transport.proxies = .all(proxy) }
      var configuration = ServerConfiguration()
      configuration.log = .discard
      configuration.addressPolicy = .publicOnly
      configuration.insecureHosts = Set(calls.flatMap { $0.urls.compactMap { Origin($0)?.host } })
      return Server(
        "https://bench.test", configuration: configuration, transport: try CurlTransport(transport),
        manager: TaskManager(limits: .unlimited))
    #else
      throw BenchError("the addresses scenario requires Linux")
    #endif
  }
}
