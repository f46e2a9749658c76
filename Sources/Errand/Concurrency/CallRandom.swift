import ErrandFoundation

/// A manager's source of random numbers, which uses any generator. Thread-safe.
///
/// Every random number in the library (jitter, keys) comes from this type, so a seeded generator makes runs
/// reproducible.
public struct CallRandom: Sendable {
  private let draw: @Sendable () -> UInt64

  /// Creates a source of random numbers that draws from `generator`.
  public init<Generator: RandomNumberGenerator & Sendable>(_ generator: Generator) {
    let generator = Lock(generator)
    draw = { generator.withLock { $0.next() } }
  }

  /// The system's generator.
  public static let system = CallRandom(SystemGenerator())

  /// Returns a random number in `0..<1`.
  public func unit() -> Double { Double(draw() >> 11) * 0x1p-53 }

  package func bits() -> UInt64 { draw() }

  /// Returns sixteen random bytes as 32 hexadecimal digits.
  public func key() -> String {
    [draw(), draw()].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

#if os(Linux)
  /// The system's generator. Fetches many numbers together, because each fetch is a system call.
  private struct SystemGenerator: RandomNumberGenerator, Sendable {
    private var numbers: [UInt64] = []
    /// The maximum that `getentropy` returns in one call: 256 bytes.
    private static let count = 32

    mutating func next() -> UInt64 {
      if numbers.isEmpty { fetch() }
      return numbers.popLast() ?? UInt64.random(in: 0...UInt64.max)
    }

    private mutating func fetch() {
      numbers = [UInt64](repeating: 0, count: Self.count)
      let isDone = numbers.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { getentropy($0, bytes.count) == 0 } ?? false
      }
      if !isDone { numbers.removeAll() }
    }
  }
#else
  private typealias SystemGenerator = SystemRandomNumberGenerator
#endif
