import Errand
import ErrandTesting
import ErrandFoundation

/// Sends mutated responses over TCP, TLS and HTTP/2 to the transport and to the entire stack, for data, streams and
/// files. A seed determines the mutations. No exchange may crash, hang, get another exchange's response, accept an
/// incomplete response, or fail with `.internal`. At the end, all slots and descriptors must have been released.
///
///     errand-bench fuzz --seed 7 --seconds 60
///     errand-bench fuzz --seed 7 --first 4096 --exchanges 16 --concurrency 1   # reproduces a finding
///
/// `--without folded,cut` excludes these kinds of mutations. `--only` excludes all others.
struct FuzzScenario: Scenario {
  let defaultRequests = Int.max
  let defaultConcurrency = 4
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    // Otherwise the run's first server would become the default and never be released.
    _ = Server("https://bench.test", transport: StubTransport { HTTPResponse(url: $0.url) })
    let peer = try FuzzPeer(options)
    defer { peer.stop() }
    var secure = options
    secure.authorities = peer.folder.appendingPathComponent("ca.pem")
    try await Self.warmUp(secure, peer)
    let before = await ProcessFootprint.settled(atMost: 0).descriptors
    let run = FuzzRun(secure, peer, try FuzzWatch(in: peer.folder))
    Self.say("if this process crashes, see \(peer.folder.path)/trail")
    try await run.go()
    var report = run.report
    let after = await ProcessFootprint.settled(atMost: before + 1).descriptors
    report.descriptorsLost = max(0, after - before - 1)  // the trail file stays open
    return report
  }

  /// Creates the threads, opens the files and loads the libraries that the process keeps.
  private static func warmUp(_ options: BenchOptions, _ peer: FuzzPeer) async throws {
    let transport = try options.transport()
    for line in peer.lines {
      // The exchange with this number is not checked.
      let exchange = FuzzExchange(-1, seed: options.seed, line: line, isFirst: true)
      let response = try await transport.send(HTTPRequest(.get, peer.url(line, exchange.path)))
      _ = try await response.body.collect()
    }
  }

  static func say(_ text: String) {
    LogOutput.standardError.write("errand-bench: \(text)")
  }
}

/// Runs the blocks, a few concurrently, until the time is up or all blocks are done.
final class FuzzRun: Sendable {
  private let options: BenchOptions
  private let peer: FuzzPeer
  private let watch: FuzzWatch
  private let judge: Shared<FuzzJudge?>
  private let state: Shared<State>

  private struct State {
    var report: FuzzReport
    var nextBlock: Int
    var workers: Int
    var failure: (any Error)?
  }

  init(_ options: BenchOptions, _ peer: FuzzPeer, _ watch: FuzzWatch) {
    self.options = options
    self.peer = peer
    self.watch = watch
    judge = Shared(nil)
    state = Shared(
      State(
        report: FuzzReport(seed: options.seed), nextBlock: options.first / FuzzBlock.size, workers: options.concurrency)
    )
  }

  var report: FuzzReport {
    var report = state.withLock { $0.report }
    report.slotsLost = watch.slotsLost
    report.findings += watch.notes + watch.hung.map { "seed \(options.seed), exchange \($0): hung" }
    return report
  }

  /// Runs until all blocks are done or something hangs.
  func go() async throws {
    let start = ContinuousClock.now
    let end = start + .seconds(options.seconds)
    let last = options.first + min(options.requests, .max - options.first)
    let shared = FuzzJudge(peer: peer, transport: try options.transport())
    judge.withLock { $0 = shared }
    for _ in 0..<options.concurrency { Task { await work(until: end, before: last) } }
    while state.withLock({ $0.workers > 0 }), watch.hung.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    judge.withLock { $0 = nil }  // closes its connections
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try state.withLock { state in
      state.report.seconds = seconds
      if let failure = state.failure { throw failure }
    }
  }

  private func work(until end: ContinuousClock.Instant, before last: Int) async {
    defer { state.withLock { $0.workers -= 1 } }
    while ContinuousClock.now < end {
      let index = state.withLock { state in
        defer { state.nextBlock += 1 }
        return state.nextBlock
      }
      guard index * FuzzBlock.size < last else { return }
      do {
        let block = FuzzBlock(index, seed: options.seed, lines: peer.lines)
        try await block.run(peer, over: try options.transport(), watch) { [self] in try await report($0) }
      } catch {
        return state.withLock { $0.failure = error }
      }
    }
  }

  private func report(_ outcome: FuzzOutcome) async throws {
    guard let judge = judge.withLock({ $0 }) else { return }
    let verdict = try await judge.verdict(on: outcome)
    if let finding = state.withLock({ $0.report.add(outcome, verdict) }) { FuzzScenario.say(finding) }
  }
}
