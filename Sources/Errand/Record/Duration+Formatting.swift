extension Duration {
  /// Seconds with three decimals and the unit: `0.250 s`.
  package var formattedSeconds: String {
    let (seconds, attoseconds) = components
    // A server may ask for any number of seconds with Retry-After: more than fits as milliseconds is shown in whole.
    guard abs(seconds.quotientAndRemainder(dividingBy: 1_000_000_000).quotient) < 1_000_000 else {
      return "\(seconds) s"
    }
    let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    let fraction = String(abs(milliseconds % 1000))
    let sign = milliseconds < 0 ? "-" : ""
    return "\(sign)\(abs(milliseconds / 1000)).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
  }

  /// The duration as a number of seconds.
  package var inSeconds: Double {
    let (seconds, attoseconds) = components  // each reading is a division of 128 bits
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

// The coding that the compiler writes calls these for durations: they are seconds in a file, and not two numbers of 64 bits.

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
  /// The seconds to the microsecond: 1.7, where more digits would be those of the binary fraction.
  fileprivate var roundedSeconds: Double { (inSeconds * 1e6).rounded() / 1e6 }

  /// Seconds to the microsecond; what no clock measures is cut.
  init(wholeMicroseconds seconds: Double) {
    let isPlain = seconds.isFinite && abs(seconds) < 1e12
    self = .microseconds(isPlain ? Int64((seconds * 1e6).rounded()) : 0)
  }
}
