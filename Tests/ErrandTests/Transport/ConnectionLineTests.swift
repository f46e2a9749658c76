#if os(Linux)
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct ConnectionLineTests {
    private typealias Line = ConnectionLine<Int>

    /// Returns the exchanges that can start now.
    private func started(_ line: inout Line) -> [Int] {
      var started: [Int] = []
      while let exchange = line.start() { started.append(exchange) }
      return started
    }

    @Test func `starts one exchange per connection and queues the others in order`() {
      var line = Line(limit: 2)
      for number in 0..<5 { _ = line.join(number) }
      #expect(started(&line) == [0, 1])
      line.connected()
      #expect(started(&line) == [], "each connection carries one exchange")
      line.leave(.connected)
      #expect(started(&line) == [2])
      line.leave(.started)
      line.leave(.started)
      #expect(started(&line) == [3, 4])
    }

    @Test func `skips an exchange that has left the queue`() {
      var line = Line(limit: 1)
      let places = (0..<4).map { line.join($0) }
      #expect(started(&line) == [0])
      line.leave(places[1])
      line.leave(.started)
      #expect(started(&line) == [2])
      line.leave(places[3])
      #expect(!line.isEmpty)
      line.leave(.started)
      #expect(line.isEmpty)
    }

    @Test func `starts exchanges one at a time on a multiplexed connection`() {
      var line = Line(limit: 1)
      for number in 0..<4 { _ = line.join(number) }
      #expect(started(&line) == [0])
      line.connected()
      line.isMultiplexed = true
      #expect(started(&line) == [1], "the exchange may have to wait for a free stream")
      line.connected()
      #expect(started(&line) == [2])
    }
  }
#endif
