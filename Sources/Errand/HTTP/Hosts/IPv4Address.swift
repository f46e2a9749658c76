/// An IPv4 address, parsed by the rules of `inet_aton`, which name lookup also uses.
struct IPv4Address: CustomStringConvertible {
  private let value: UInt32

  /// Parses one to four numbers: decimal, octal with a leading zero, or hexadecimal with `0x`. The last number fills
  /// the remaining bytes. Returns `nil` if the address is invalid.
  init?(_ labels: some BidirectionalCollection<some Collection<UInt8>>) {
    let numbers = labels.map { Self.number($0) }
    guard numbers.count <= 4, let last = numbers.last else { return nil }
    var value: UInt64 = 0
    for number in numbers.dropLast() {
      guard let number, number <= 255 else { return nil }
      value = value << 8 | number
    }
    let bits = UInt64(8 * (5 - numbers.count))
    guard let last, last < 1 << bits else { return nil }
    self.value = UInt32(value << bits | last)
  }

  var description: String { "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)" }

  var isLoopback: Bool { value >> 24 == 127 }

  /// Whether a name ending in this label can only be an address (URL Standard, "ends in a number").
  static func isNumber(_ label: some Collection<UInt8>) -> Bool {
    label.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      || (isHexadecimal(label) && label.dropFirst(2).allSatisfy { $0.hexadecimalDigit != nil })
  }

  private static func isHexadecimal(_ label: some Collection<UInt8>) -> Bool {
    label.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")])
  }

  private static func number(_ label: some Collection<UInt8>) -> UInt64? {
    let isHexadecimal = isHexadecimal(label)
    let radix: UInt64 = isHexadecimal ? 16 : label.first == UInt8(ascii: "0") && label.count > 1 ? 8 : 10
    let digits = label.dropFirst(isHexadecimal ? 2 : 0)
    guard !digits.isEmpty else { return nil }
    var number: UInt64 = 0
    for byte in digits {
      guard let digit = byte.hexadecimalDigit, digit < radix else { return nil }
      number = number * radix + UInt64(digit)
      if number > UInt32.max { return nil }
    }
    return number
  }
}
