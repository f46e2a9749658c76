import ErrandTesting
import ErrandFoundation

/// Tracks running exchanges to find the ones that hang, and writes a trail for crash analysis.
final class FuzzWatch: Sendable {
  private struct State {
    var running: [Int: (exchange: FuzzExchange, start: ContinuousClock.Instant)] = [:]
    var slotsLost = 0
    var notes: [String] = []
  }

  private let state = Shared(State())
  private let trail: Int32

  /// Writes the start and end of every exchange to a file in `folder`.
  init(in folder: URL) throws {
    let file = folder.appendingPathComponent("trail")
    trail = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard trail >= 0 else { throw BenchError("\(file.path) can't be written") }
  }

  deinit { close(trail) }

  func begin(_ exchange: FuzzExchange) {
    state.withLock { $0.running[exchange.number] = (exchange, .now) }
    leave("begin \(exchange.description)\n")
  }

  func end(_ exchange: FuzzExchange) {
    state.withLock { $0.running[exchange.number] = nil }
    leave("end \(exchange.number)\n")
  }

  func lose(slots: Int, in block: Int) {
    state.withLock { state in
      state.slotsLost += slots
      state.notes.append("\(slots) slots or calls were not released after the exchanges from \(block)")
    }
  }

  var slotsLost: Int { state.withLock { $0.slotsLost } }
  var notes: [String] { state.withLock { $0.notes } }

  /// The exchanges that have exceeded their limits by so much that they will never end.
  var hung: [String] {
    state.withLock { state in
      state.running.values.filter { ContinuousClock.now - $0.start > $0.exchange.limit + .seconds(30) }
        .map { $0.exchange.description }
    }
  }

  private func leave(_ text: String) {
    // Write without a buffer, because a crash would lose the buffer.
    var text = text
    text.withUTF8 { _ = write(trail, $0.baseAddress, $0.count) }
  }
}
