/// Creates multipart boundaries from a secret. They are reproducible, so a recreated body has the same boundaries.
final class BoundarySequence: Sendable {
  private let secret: String
  private let count = Lock<UInt64>(0)

  /// - Parameter secret: A value that the authors of parts can't guess.
  init(_ secret: String) { self.secret = secret }

  /// Returns the next boundary. Each one is different because forms can be nested.
  func next() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let text = "boundary \(number) \(secret)"
    return "errand-\(Checksum.of(text, seed: 1))-\(Checksum.of(text, seed: 2))"
  }

  static func drawn() -> String { "errand-\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))" }
}
