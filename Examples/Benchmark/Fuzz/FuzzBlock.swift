import Errand
import ErrandFoundation

/// Exchanges on one transport, run sequentially or a few at a time. Each may use connections that earlier exchanges
/// have affected. The first exchange gets a valid response. To reproduce a block's findings, run the block again.
struct FuzzBlock: Sendable {
  /// The number of exchanges.
  static let size = 16

  let first: Int
  let exchanges: [FuzzExchange]
  private let width: Int

  init(_ index: Int, seed: Int, lines: [FuzzPeer.Line]) {
    let first = index * Self.size
    var dice = Dice(seed: UInt64(truncatingIfNeeded: seed &* 7_919 &+ index))
    let line = lines[dice.roll(lines.count)]
    self.first = first
    width = dice.roll(line == .h2 ? 2 : 4) == 0 ? 4 : 1
    exchanges = (0..<Self.size).map { FuzzExchange(first + $0, seed: seed, line: line, isFirst: $0 == 0) }
  }

  /// Runs the exchanges and passes their outcomes to `report`.
  func run(
    _ peer: FuzzPeer, over transport: any Transport, _ watch: FuzzWatch,
    _ report: @escaping @Sendable (FuzzOutcome) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration()
    if ProcessInfo.processInfo.environment["ERRAND_LOG_STYLE"] == nil { configuration.log = .discard }
    let server = Server(
      Remote(try peer.url(exchanges[0].line, "")), configuration: configuration, transport: transport)
    var isAfterWild = false
    for start in stride(from: 0, to: exchanges.count, by: width) {
      let some = exchanges[start..<min(start + width, exchanges.count)]
      let isWild = isAfterWild || (width > 1 && some.contains { $0.isWild })
      try await withThrowingTaskGroup { group in
        for exchange in some {
          group.addTask { try await report(one(exchange, peer, transport, server, watch, isAfterWild: isWild)) }
        }
        try await group.waitForAll()
      }
      isAfterWild = isAfterWild || some.contains { $0.isWild }
    }
    let lost = server.manager.runningCount + server.manager.waitingCount + server.manager.callCount
    if lost > 0 { watch.lose(slots: lost, in: first) }
  }

  private func one(
    _ exchange: FuzzExchange, _ peer: FuzzPeer, _ transport: any Transport, _ server: Server, _ watch: FuzzWatch,
    isAfterWild: Bool
  ) async -> FuzzOutcome {
    watch.begin(exchange)
    defer { watch.end(exchange) }
    let (started, start) = (FuzzOutcome.now, ContinuousClock.now)
    let result: Result<FuzzAnswer, any Error>
    do {
      let url = try peer.url(exchange.line, exchange.path)
      result = .success(try await exchange.run(at: url, over: transport, server, in: peer.folder))
    } catch {
      result = .failure(error)
    }
    return FuzzOutcome(
      exchange: exchange, isAfterWild: isAfterWild, started: started, elapsed: ContinuousClock.now - start,
      result: result)
  }
}
