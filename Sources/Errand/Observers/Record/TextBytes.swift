/// A buffer for text that is written in small pieces, which avoids joining strings for every call.
///
/// The buffer manages its own memory: for small pieces, `Array` spends more time on uniqueness checks than on copying.
package struct TextBytes: ~Copyable {
  package enum Place {
    /// A file. Text is written unchanged.
    case file
    /// A log. Invisible characters are replaced by spaces, and JSON is formatted.
    case log
    /// A terminal. Like a log, but in color.
    case terminal
  }

  /// A color or weight, by its SGR number (ECMA-48).
  enum Colour: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
  }

  /// The first `count` bytes contain the text.
  private var memory: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0
  let place: Place

  package init(capacity: Int = 256, for place: Place = .file) {
    self.capacity = capacity
    self.place = place
    memory = .allocate(capacity: capacity)
  }

  deinit { memory.deallocate() }

  private var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: memory, count: count) }

  /// Calls `use` with the bytes, which must not escape the closure.
  package borrowing func withBytes<Result>(_ use: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try use(UnsafeRawBufferPointer(written))
  }

  package var bytes: [UInt8] { Array(written) }

  var text: String { String(decoding: written, as: UTF8.self) }

  package mutating func removeAll() { count = 0 }

  // MARK: Pieces

  @inline(__always)
  private mutating func reserve(_ length: Int) {
    if length > capacity - count { grow(by: length) }
  }

  private mutating func grow(by length: Int) {
    capacity = max(2 * capacity, count + length)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.initialize(from: memory, count: count)
    memory.deallocate()
    memory = larger
  }

  @inline(__always)
  private mutating func add(_ piece: UnsafeBufferPointer<UInt8>) {
    guard let start = piece.baseAddress else { return }
    reserve(piece.count)
    (memory + count).initialize(from: start, count: piece.count)
    count += piece.count
  }

  @inline(__always)
  package mutating func raw(_ text: StaticString) {
    add(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  mutating func byte(_ byte: UInt8) {
    reserve(1)
    memory[count] = byte
    count += 1
  }

  mutating func add(_ text: String) {
    (place == .file ? text : text.onLines).withBytes { add($0) }
  }

  /// Writes text in color if the destination is a terminal.
  mutating func paint(_ colour: Colour, _ write: (inout TextBytes) -> Void) {
    guard place == .terminal else { return write(&self) }
    raw("\u{1B}[")
    number(colour.rawValue)
    raw("m")
    write(&self)
    raw("\u{1B}[0m")
  }

  mutating func body(_ text: String) { line(place == .file ? text : JSONLayout.laidOut(text)) }

  mutating func line(_ text: String) {
    add(text)
    byte(0x0A)
  }

  package mutating func number(_ value: Int) {
    if value < 0 { byte(UInt8(ascii: "-")) }
    digits(value.magnitude, atLeast: 1)
  }

  private static var pairs: StaticString {
    """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
  }

  /// Writes a decimal number, padded with zeros to `count` digits.
  package mutating func digits(_ value: UInt, atLeast count: Int) {
    if value < 10, count <= 1 { return byte(UInt8(ascii: "0") + UInt8(value)) }
    let most = max(count, 20)
    reserve(2 * most)
    // Write backwards into the space after the destination.
    let end = memory + self.count + 2 * most
    var (rest, start) = (value, end)
    repeat {
      let pair = Int(truncatingIfNeeded: rest % 100)
      rest /= 100
      start -= 2
      start.initialize(from: Self.pairs.utf8Start + 2 * pair, count: 2)
    } while rest > 0 || end - start < count
    if end - start > count, start.pointee == UInt8(ascii: "0") { start += 1 }
    add(UnsafeBufferPointer(start: start, count: end - start))
  }

  package mutating func hex(_ value: UInt64) {
    reserve(16)
    value.writeDigits(to: UnsafeMutableBufferPointer(start: memory, count: capacity), at: count)
    count += 16
  }

  /// Writes a JSON string in quotes (RFC 8259 §7). Also escapes `sign`.
  package mutating func quoted(_ text: String, escaping sign: UInt8 = UInt8(ascii: "\"")) {
    text.withBytes { quoted($0, escaping: sign) }
  }

  package mutating func quoted(_ text: UnsafeBufferPointer<UInt8>, escaping sign: UInt8) {
    byte(UInt8(ascii: "\""))
    let bytes = UnsafeRawBufferPointer(text)
    var index = 0
    // Copy eight bytes at a time while none of them needs escaping.
    while index + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let plain = word.leadingPlainBytes(sign)
      reserve(8)
      UnsafeMutableRawPointer(memory + count).storeBytes(of: word.littleEndian, as: UInt64.self)
      count += plain
      index += plain
      if plain < 8 {
        escape(bytes[index])
        index += 1
      }
    }
    while index < bytes.count {
      let next = bytes[index]
      if next < 0x20 || next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") || next == sign {
        escape(next)
      } else {
        byte(next)
      }
      index += 1
    }
    byte(UInt8(ascii: "\""))
  }

  /// Writes the name of a member and its colon. If `isContinued` is `true`, writes a comma first. The name must not
  /// require escaping.
  @inline(__always)
  package mutating func key(_ name: StaticString, isContinued: Bool) {
    let length = name.utf8CodeUnitCount
    reserve(length + 4)
    var next = memory + count
    func put(_ byte: UInt8) {
      next.pointee = byte
      next += 1
    }
    if isContinued { put(UInt8(ascii: ",")) }
    put(UInt8(ascii: "\""))
    next.initialize(from: name.utf8Start, count: length)
    next += length
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
    count = next - memory
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

  /// Writes a duration in seconds with three decimals and the unit, like `formattedSeconds`.
  mutating func seconds(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0, seconds < 1_000_000_000 else { return add(duration.formattedSeconds) }
    digits(UInt(seconds), atLeast: 1)
    byte(UInt8(ascii: "."))
    digits(UInt(attoseconds / 1_000_000_000_000_000), atLeast: 3)
    raw(" s")
  }

  /// Writes a duration in seconds with six decimals, as a JSON number. A negative duration is written as 0.
  package mutating func preciseSeconds(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return byte(UInt8(ascii: "0")) }
    digits(UInt(seconds), atLeast: 1)
    byte(UInt8(ascii: "."))
    digits(UInt(attoseconds / 1_000_000_000_000), atLeast: 6)
  }
}

extension UInt64 {
  /// Returns the number of low-order bytes before the first byte that JSON escapes or that equals `sign`.
  fileprivate func leadingPlainBytes(_ sign: UInt8) -> Int {
    let escaped = marks(below: 0x20) | marks(UInt8(ascii: "\"")) | marks(UInt8(ascii: "\\")) | marks(sign)
    return escaped.trailingZeroBitCount / 8
  }

  /// Sets the high bit of each byte below `bound`, which is at most 0x80. Because of borrows, only the lowest mark is
  /// reliable.
  private func marks(below bound: UInt8) -> UInt64 {
    (self &- 0x0101_0101_0101_0101 &* UInt64(bound)) & ~self & 0x8080_8080_8080_8080
  }

  /// Sets the high bit of each byte that equals `byte`.
  private func marks(_ byte: UInt8) -> UInt64 {
    (self ^ (0x0101_0101_0101_0101 &* UInt64(byte))).marks(below: 1)
  }
}

extension UInt8 {
  fileprivate var lowDigit: UInt8 {
    let digit = self & 15
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }
}
