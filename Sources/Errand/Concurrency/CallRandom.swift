/// The random numbers of a manager: any generator, drawn from by one caller at a time.
///
/// Every random draw of the library (jitter, keys) goes through one of these, so that a seeded generator repeats a
/// run.
public struct CallRandom: Sendable {
  private let draw: @Sendable () -> UInt64

  /// Draws from `generator`.
  public init<Generator: RandomNumberGenerator & Sendable>(_ generator: Generator) {
    let generator = Lock(generator)
    draw = { generator.withLock { $0.next() } }
  }

  /// The generator of the system.
  public static let system = CallRandom(SystemRandomNumberGenerator())

  /// A number from 0 up to, but not including, 1.
  public func unit() -> Double { Double(draw() >> 11) * 0x1p-53 }

  /// Eight random bytes.
  package func bits() -> UInt64 { draw() }

  /// Sixteen random bytes as 32 hexadecimal digits.
  public func key() -> String {
    [draw(), draw()].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
