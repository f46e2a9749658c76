import Errand
import ErrandTesting
import ErrandFoundation

/// A storm: many concurrent calls, each cancelled after a random time.
struct Storm: Sendable {
  private let requests: Int
  private let concurrency: Int
  private let remote: MockServer
  private let server: Server
  private let tally = Tally()

  init(_ options: BenchOptions) throws {
    requests = options.requests
    concurrency = options.concurrency
    remote = try Self.makeRemote()
    server = Server(
      Remote(remote.url), transport: try options.transport(),
      manager: TaskManager(limits: ThrottleLimits(perHost: concurrency)))
  }

  /// Responses are immediate, delayed, slow or long, so that cancellation happens at every stage.
  private static func makeRemote() throws -> MockServer {
    let remote = try MockServer(keeping: 0)
    remote.route(.get, "/now", answer: .json(#"{"id":7}"#))
    remote.route(.get, "/late", answer: .json(#"{"id":7}"#).after(.milliseconds(2)))
    let chunks = Array(repeating: Data(repeating: 1, count: 100), count: 4)
    remote.route(.get, "/drip", answer: .chunked(chunks).throttled(bytes: 100, every: .milliseconds(1)))
    remote.route(.get, "/long", answer: .data(Data(repeating: 2, count: 700_000)))
    remote.route(.post, "/up", answer: .status(201))
    return remote
  }

  /// Runs the storm and waits until it ends or stops making progress.
  func blow() async throws -> StormReport {
    let share = (requests + concurrency - 1) / concurrency
    let workers = (0..<concurrency).map { index in
      Task {
        var dice = Dice(seed: UInt64(index))
        for _ in 0..<share { await once(&dice) }
      }
    }
    await waitWhileProgressing(until: share * concurrency)
    var report = StormReport(requests: share * concurrency, concurrency: concurrency)
    let counts = tally.counts
    report.succeeded = counts.succeeded
    report.cancelled = counts.cancelled
    report.wrong = counts.wrong
    report.hung = counts.begun - counts.ended
    if report.hung == 0 { for worker in workers { await worker.value } }
    report.slotsLost = server.manager.runningCount + server.manager.waitingCount + server.manager.callCount
    remote.stop()
    return report
  }

  private func once(_ dice: inout Dice) async {
    let path = ["now", "late", "drip", "long", "up"][dice.roll(5)]
    let call = Task { [server, remote] in
      let url = remote.url.appendingPathComponent(path)
      if path == "up" {
        _ = try await URLTask(url, method: .post, body: .bytes(Data(count: 100_000))).on(server).upload()
      } else {
        _ = try await URLTask(url).on(server).downloadData()
      }
    }
    tally.begin()
    switch dice.roll(6) {
    case 0: break  // immediately
    case 1: await Task.yield()
    case let speed: try? await Task.sleep(for: .microseconds(dice.roll(50 << (2 * speed))))  // up to 51 ms
    }
    call.cancel()
    tally.end(await call.result)
  }

  private func waitWhileProgressing(until total: Int) async {
    var last = -1
    var idleSeconds = 0.0
    while tally.counts.ended < total, idleSeconds < 10 {
      try? await Task.sleep(for: .milliseconds(100))  // this task is never cancelled
      let ended = tally.counts.ended
      idleSeconds = ended == last ? idleSeconds + 0.1 : 0
      last = ended
    }
  }
}

/// The outcomes of a storm's calls.
private final class Tally: Sendable {
  struct Counts {
    var begun = 0
    var succeeded = 0
    var cancelled = 0
    var wrong: [String] = []

    var ended: Int { succeeded + cancelled + wrong.count }
  }

  private let state = Shared(Counts())

  var counts: Counts { state.withLock { $0 } }

  func begin() { state.withLock { $0.begun += 1 } }

  func end(_ result: Result<Void, any Error>) {
    state.withLock { counts in
      switch result {
      case .success: counts.succeeded += 1
      case .failure(is CancellationError): counts.cancelled += 1
      case .failure(let error): counts.wrong.append("\(error)")
      }
    }
  }
}

/// Random numbers that are the same in every run (SplitMix64).
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
}
