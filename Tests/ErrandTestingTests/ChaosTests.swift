import Errand
import ErrandFoundation
import ErrandTesting
import ErrandTestingTraits
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChaosTests {
  private let paths = (0..<1000).map { "/widgets/\($0)" }

  @Test func `a seed always draws the same faults, and different seeds draw different faults`() {
    let faults = paths.map { Chaos(seed: 7).fault(.get, $0, occurrence: 1) }
    #expect(faults == paths.map { Chaos(seed: 7).fault(.get, $0, occurrence: 1) })
    #expect(faults != paths.map { Chaos(seed: 8).fault(.get, $0, occurrence: 1) })
    #expect(faults != paths.map { Chaos(seed: 7).fault(.put, $0, occurrence: 1) })
    #expect(faults != paths.map { Chaos(seed: 7).fault(.get, $0, occurrence: 2) })
    // Seeds printed by earlier versions stay valid.
    #expect(Chaos(seed: 7).fault(.get, "/widgets/7", occurrence: 2) == nil)
  }

  @Test func `the rate is the proportion of requests with a fault`() {
    for rate in [0, 0.1, 0.5, 1] {
      let count = paths.count { Chaos(seed: 1, rate: rate).fault(.get, $0, occurrence: 1) != nil }
      #expect(abs(Double(count) / 1000 - rate) < 0.05, "rate \(rate): \(count) of 1000")
    }
  }

  @Test func `draws all kinds of faults about equally often, or only the given kinds`() {
    let faults = paths.compactMap { Chaos(seed: 1, rate: 1).fault(.get, $0, occurrence: 1) }
    for kind in Chaos.Kind.allCases {
      let count = faults.count { $0.kind == kind }
      #expect(count > 120 && count < 220, "\(kind): \(count) of 1000")
    }
    let resets = paths.compactMap { Chaos(seed: 1, rate: 1, kinds: [.reset]).fault(.get, $0, occurrence: 1) }
    #expect(resets == paths.map { _ in .reset })
    #expect(Chaos(seed: 1, rate: 1, kinds: []).fault(.get, "/", occurrence: 1) == nil)
  }

  @Test func `delays are multiples of a tenth of the longest delay`() {
    let chaos = Chaos(seed: 1, rate: 1, kinds: [.delay], longestDelay: .seconds(5))
    let delays = Set(paths.compactMap { chaos.fault(.get, $0, occurrence: 1) })
    #expect(delays == Set((1...10).map { .delay(.milliseconds(500 * $0)) }))
  }

  @Test(arguments: Chaos.Kind.allCases) func `a stub and a server fail in the same way`(_ kind: Chaos.Kind) async throws
  {
    let chaos = Chaos(seed: 3, rate: 1, kinds: [kind], longestDelay: .milliseconds(10))
    let clock = CallClock(ManualClock(.whenIdle))
    let answer = MockAnswer.text(String(repeating: "a", count: 100))
    let mock = try MockServer(chaos: chaos)
    mock.route("/*", answer: answer)
    let servers = [
      Server(mock.url, asDefault: false),
      Server(
        "https://shop.test", transport: StubTransport(answer, chaos: chaos, clock: clock),
        manager: TaskManager(clock: clock), asDefault: false),
    ]
    for server in servers {
      await server.update {
        $0.retryPolicy = .never
        $0.timeouts.firstByte = .milliseconds(300)
      }
      var code: TaskError.Code?
      do {
        _ = try await Endpoint<Void, Void>.request(.get, "widgets/7").on(server).data()
      } catch let error as TaskError {
        code = error.code
      }
      switch kind {
      case .delay: #expect(code == nil)
      case .status: #expect(code == .badStatus)
      case .stall: #expect(code == .timedOut)
      case .cut: #expect(code == .truncatedBody)
      case .reset: #expect(code == .connectionLost)
      case .garbage: #expect(code == .badResponse)
      }
    }
  }

  @Test func `a fault that replaces the answer does not use up a queued answer`() async throws {
    let all = (1...100).map { Chaos(seed: $0, rate: 0.5, kinds: [.reset]) }
    let chaos = try #require(all.first { $0.fault(.get, "/widgets/7", occurrence: 1) != nil })
    let stub = StubTransport([.text("a"), .text("b")], chaos: chaos)
    let mock = try MockServer(chaos: chaos)
    for text in ["a", "b"] { mock.enqueue(.text(text)) }
    for server in [
      Server("https://shop.test", transport: stub, asDefault: false), Server(mock.url, asDefault: false),
    ] {
      await server.update { $0.retryPolicy = .fixed(retries: 20, delay: .zero) }
      for text in ["a", "b"] {
        let data = try await Endpoint<Void, Void>.request(.get, "widgets/7").on(server).data()
        #expect(data == Data(text.utf8))
      }
    }
    #expect(stub.requests.count > 2 && mock.requestCount == stub.requests.count)
  }
}

extension Chaos.Fault {
  fileprivate var kind: Chaos.Kind {
    switch self {
    case .delay: .delay
    case .status: .status
    case .stall: .stall
    case .cut: .cut
    case .reset: .reset
    case .garbage: .garbage
    }
  }
}
