import ErrandFoundation

/// A thread-safe source of random numbers. Wraps any `RandomNumberGenerator`.
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
  /// The system's generator. Fetches numbers in batches, because each fetch is a system call.
  private struct SystemGenerator: RandomNumberGenerator, Sendable {
    private var numbers: [UInt64] = []
    /// The number of values in a batch. `getentropy` returns at most 256 bytes per call.
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
