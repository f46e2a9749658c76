public import Errand

/// Simulated faults of a ``StubTransport`` or a ``MockServer``, drawn from a seed.
///
///     let clock = CallClock(ManualClock(.whenIdle))
///     let stub = StubTransport(.json(#"{"id": 7}"#), chaos: Chaos(seed: 7), clock: clock)
///     let shop = Server("https://shop.test", transport: stub, manager: TaskManager(clock: clock))
///
/// A request's fault depends only on the seed, the request's method and path, and how many requests with that method
/// and path came before. It doesn't depend on the order in which requests for different paths arrive, so a seed
/// reproduces the faults of concurrent calls too. It doesn't reproduce which of two concurrent requests is faster.
///
/// To run a test once per seed, use the trait `.chaos(runs:)` of the module `ErrandTestingTraits`.
public struct Chaos: Sendable, Hashable {
  /// The seed.
  public let seed: UInt64
  /// The fraction of requests with a fault, from 0 to 1.
  public let rate: Double
  /// The kinds of faults. Each is drawn equally often.
  public let kinds: Set<Kind>
  /// The longest delay.
  public let longestDelay: Duration

  /// Creates the chaos of a seed.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - rate: The fraction of requests with a fault, from 0 to 1. Defaults to 0.3.
  ///   - kinds: The kinds of faults. Defaults to all.
  ///   - longestDelay: The longest delay. Delays are multiples of a tenth of it. Defaults to 1 s.
  public init(
    seed: UInt64, rate: Double = 0.3, kinds: Set<Kind> = Set(Kind.allCases), longestDelay: Duration = .seconds(1)
  ) {
    self.seed = seed
    self.rate = rate
    self.kinds = kinds
    self.longestDelay = longestDelay
  }

  /// The chaos of the current run in a test with the trait `.chaos(runs:)`. Elsewhere, the chaos of seed 0.
  public static var current: Chaos { surrounding ?? Chaos(seed: 0) }

  @TaskLocal private static var surrounding: Chaos?

  /// Runs `body` with this chaos as ``current``.
  package func run(_ body: () async throws -> Void) async rethrows {
    try await Self.$surrounding.withValue(self, operation: body)
  }

  /// Returns the fault of a request, or `nil` if the request is answered normally.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - path: The request's path, still escaped, without the query.
  ///   - occurrence: How many requests had this method and path, including this one. Starts at 1.
  public func fault(_ method: HTTPMethod, _ path: String, occurrence: Int) -> Fault? {
    var random = SeededGenerator(seed: seed)
    random = SeededGenerator(seed: random.next() ^ Self.hash("\(occurrence) \(method.rawValue) \(path)"))
    guard random.unit() < rate else { return nil }
    let kinds = Kind.allCases.filter(self.kinds.contains)
    guard !kinds.isEmpty else { return nil }
    switch kinds[random.index(below: kinds.count)] {
    case .delay: return .delay(longestDelay * (1 + random.index(below: 10)) / 10)
    case .status: return .status(Self.statuses[random.index(below: Self.statuses.count)])
    case .stall: return .stall
    case .cut: return .cut(after: random.unit())
    case .reset: return .reset
    case .garbage: return .garbage
    }
  }

  private static let statuses: [HTTPStatus] = [
    .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
  ]

  /// Returns the FNV-1a hash of a text. Swift's own hashes differ between processes.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
  }
}

extension SeededGenerator {
  /// Returns a number in `0..<1`.
  fileprivate mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  fileprivate mutating func index(below count: Int) -> Int { Int(next() % UInt64(count)) }
}

extension Chaos: CustomStringConvertible {
  /// The environment variable that reproduces a run, such as `ERRAND_CHAOS_SEED=7`.
  public var description: String { "ERRAND_CHAOS_SEED=\(seed)" }
}
