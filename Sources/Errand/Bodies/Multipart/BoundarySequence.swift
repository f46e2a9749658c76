/// The boundaries of multipart bodies: drawn, or following from a secret, so that a body that is made anew has the same.
final class BoundarySequence: Sendable {
  private let secret: String
  private let count = Lock<UInt64>(0)

  /// - Parameter secret: A value that the author of a part cannot guess.
  init(_ secret: String) { self.secret = secret }

  /// Another boundary each time, for forms may stand in each other.
  func next() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let text = "boundary \(number) \(secret)"
    return "errand-\(Checksum.of(text, seed: 1))-\(Checksum.of(text, seed: 2))"
  }

  /// A boundary of 128 random bits.
  static func drawn() -> String { "errand-\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))" }
}
