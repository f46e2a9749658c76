/// Text as it is written, piece by piece: what is made for each call goes into one buffer, not into strings that are joined. Pure.
struct TextBytes {
  /// The place that the text is for.
  enum Place {
    /// A file, which has everything as it is.
    case file
    /// A log: without signs that nobody sees, and with JSON laid out.
    case log
    /// A terminal: as a log, in colour.
    case terminal
  }

  /// A colour, or a weight, by its number for terminals (ECMA-48, SGR).
  enum Colour: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
  }

  private(set) var bytes: [UInt8] = []
  let place: Place

  init(capacity: Int = 0, for place: Place = .file) {
    self.place = place
    bytes.reserveCapacity(capacity)
  }

  /// The text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Begins anew in the same memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Drops what stands behind a place.
  mutating func removeAll(after count: Int) { bytes.removeLast(bytes.count - count) }

  @inline(__always)
  mutating func raw(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  mutating func add(_ text: String) {
    if place == .file { bytes.append(contentsOf: text.utf8) } else { bytes.append(contentsOf: text.onLines.utf8) }
  }

  /// Writes a part in a colour, where there are any.
  mutating func paint(_ colour: Colour, _ write: (inout TextBytes) -> Void) {
    guard place == .terminal else { return write(&self) }
    raw("\u{1B}[")
    number(colour.rawValue)
    raw("m")
    write(&self)
    raw("\u{1B}[0m")
  }

  /// A body, and the end of its line.
  mutating func body(_ text: String) { line(place == .file ? text : JSONLayout.laidOut(text)) }

  mutating func add(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

  mutating func line(_ text: String) {
    add(text)
    byte(0x0A)
  }

  mutating func number(_ value: Int) {
    if value < 0 { byte(UInt8(ascii: "-")) }
    digits(value.magnitude, atLeast: 1)
  }

  /// Decimal digits, with zeros before them where there are fewer than `count`.
  mutating func digits(_ value: UInt, atLeast count: Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(count, 20)) { digits in
      var (rest, start) = (value, digits.count)
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0 || digits.count - start < count
      bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
    }
  }

  /// All 16 hexadecimal digits.
  mutating func hex(_ value: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
      value.writeDigits(to: buffer, at: 0)
      bytes.append(contentsOf: buffer)
    }
  }

  /// A string of JSON, in quotes and escaped (RFC 8259 §7), and `sign` with it.
  mutating func quoted(_ text: String, escaping sign: UInt8 = UInt8(ascii: "\"")) {
    var text = text
    byte(UInt8(ascii: "\""))
    text.withUTF8 { quoted($0, sign) }
    byte(UInt8(ascii: "\""))
  }

  /// What needs no escape is added piece by piece.
  private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>, _ sign: UInt8) {
    var start = 0
    for index in text.indices {
      let next = text[index]
      guard next < 0x20 || next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") || next == sign else { continue }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
      start = index + 1
      escape(next)
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
  }

  private mutating func escape(_ unit: UInt8) {
    switch unit {
    case UInt8(ascii: "\""): raw("\\\"")
    case UInt8(ascii: "\\"): raw("\\\\")
    case 0x0A: raw("\\n")
    default:
      raw("\\u00")
      byte((unit >> 4).lowDigit)
      byte(unit.lowDigit)
    }
  }

  /// Seconds with three decimals and the unit, as ``Swift/Duration`` is shown everywhere.
  mutating func seconds(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0, seconds < 1_000_000_000 else { return add(duration.formattedSeconds) }
    digits(UInt(seconds), atLeast: 1)
    byte(UInt8(ascii: "."))
    digits(UInt(attoseconds / 1_000_000_000_000_000), atLeast: 3)
    raw(" s")
  }

  /// Seconds to the microsecond, as a number of JSON; 0 for less than nothing.
  mutating func preciseSeconds(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return byte(UInt8(ascii: "0")) }
    digits(UInt(seconds), atLeast: 1)
    byte(UInt8(ascii: "."))
    digits(UInt(attoseconds / 1_000_000_000_000), atLeast: 6)
  }
}

extension UInt8 {
  /// Its last hexadecimal digit.
  fileprivate var lowDigit: UInt8 {
    let digit = self & 15
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }
}
