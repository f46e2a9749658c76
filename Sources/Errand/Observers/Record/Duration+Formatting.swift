extension Duration {
  /// The duration in seconds with three decimals and the unit, such as `0.250 s`.
  package var formattedSeconds: String {
    let (seconds, attoseconds) = components
    // `Retry-After` can be any number: omit the decimals if the milliseconds would overflow.
    guard abs(seconds.quotientAndRemainder(dividingBy: 1_000_000_000).quotient) < 1_000_000 else {
      return "\(seconds) s"
    }
    let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    let fraction = String(abs(milliseconds % 1000))
    let sign = milliseconds < 0 ? "-" : ""
    return "\(sign)\(abs(milliseconds / 1000)).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
  }

  package var inSeconds: Double {
    let (seconds, attoseconds) = components  // read only once, because it is a 128-bit division
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

// The synthesized `Codable` code calls these overloads, so durations are encoded as seconds instead of two 64-bit
// integers.

extension KeyedEncodingContainer {
  mutating func encode(_ value: Duration, forKey key: Key) throws { try encode(value.roundedSeconds, forKey: key) }

  mutating func encodeIfPresent(_ value: Duration?, forKey key: Key) throws {
    try encodeIfPresent(value?.roundedSeconds, forKey: key)
  }
}

extension KeyedDecodingContainer {
  func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration {
    try Duration(wholeMicroseconds: decode(Double.self, forKey: key))
  }

  func decodeIfPresent(_ type: Duration.Type, forKey key: Key) throws -> Duration? {
    try decodeIfPresent(Double.self, forKey: key).map { Duration(wholeMicroseconds: $0) }
  }
}

extension Duration {
  /// The seconds rounded to microseconds, which removes binary rounding noise such as 1.7000000000000002.
  fileprivate var roundedSeconds: Double { (inSeconds * 1e6).rounded() / 1e6 }

  /// Creates a duration from seconds, rounded to microseconds. An infinite or huge value becomes zero.
  package init(wholeMicroseconds seconds: Double) {
    let isPlain = seconds.isFinite && abs(seconds) < 1e12
    self = .microseconds(isPlain ? Int64((seconds * 1e6).rounded()) : 0)
  }
}
