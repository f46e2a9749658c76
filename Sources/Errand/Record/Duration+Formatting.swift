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
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
  }

  /// The duration as a number of seconds.
  package var inSeconds: Double {
    let (seconds, attoseconds) = components  // each reading is a division of 128 bits
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
