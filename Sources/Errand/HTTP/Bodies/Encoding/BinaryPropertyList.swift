import ErrandFoundation

/// A binary property list: numbered values that refer to each other. Containers can share a value, and references can
/// be cyclic.
struct BinaryPropertyList {
  private let bytes: UnsafeRawBufferPointer
  private var (table, offsetSize, referenceSize, top) = (0, 0, 0, 0)
  /// For each value, the number of levels below it plus one. 0 if not yet known, `open` while they are being counted.
  private var levels: [UInt16] = []
  /// For each value, the number of values a decoder reads for it, including itself. 0 if not yet known.
  private var counts: [UInt32] = []

  private static let open = UInt16.max

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Throws `DecodingError` if the property list is nested too deeply, contains itself, or expands to far more values
  /// than it has bytes.
  mutating func check() throws {
    try readTrailer()
    _ = try measure(top, depth: 1)
  }

  private var malformed: DecodingError { PropertyListDepth.refusal("The given data was not a valid property list.") }

  // The last 32 bytes: number sizes, number of values, index of the first value, and position of the offset table.
  private mutating func readTrailer() throws {
    let start = bytes.count - 32
    guard start >= 8 else { throw malformed }
    (offsetSize, referenceSize) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
    let count = try number(at: start + 8, size: 8)
    top = try number(at: start + 16, size: 8)
    table = try number(at: start + 24, size: 8)
    // Each value takes at least one byte.
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), (8...start).contains(table),
      count <= (start - table) / offsetSize, count <= table - 8, top < count
    else { throw malformed }
    levels = Array(repeating: 0, count: count)
    counts = Array(repeating: 0, count: count)
  }

  private func number(at place: Int, size: Int) throws -> Int {
    guard place >= 0, size <= bytes.count, place <= bytes.count - size else { throw malformed }
    let value = bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let number = Int(exactly: value) else { throw malformed }
    return number
  }

  /// Returns the number of levels below a value and the number of values in it. Shared values are counted each time.
  private mutating func measure(_ value: Int, depth: Int) throws -> (levels: Int, count: Int) {
    guard value < levels.count, levels[value] != Self.open else { throw malformed }
    if levels[value] > 0 {
      let known = (levels: Int(levels[value]) - 1, count: Int(counts[value]))
      guard depth + known.levels <= PropertyListDepth.limit else { throw PropertyListDepth.tooDeep }
      return known
    }
    guard depth <= PropertyListDepth.limit else { throw PropertyListDepth.tooDeep }
    levels[value] = Self.open
    var (deepest, count) = (0, 1)
    let (start, references) = try references(of: value)
    for index in 0..<references {
      let inner = try measure(number(at: start + index * referenceSize, size: referenceSize), depth: depth + 1)
      deepest = max(deepest, inner.levels + 1)
      count += inner.count
      guard count <= most else {
        throw PropertyListDepth.refusal("The property list has more than \(most) values in \(bytes.count) bytes.")
      }
    }
    (levels[value], counts[value]) = (UInt16(deepest + 1), UInt32(count))
    return (deepest, count)
  }

  /// The maximum number of values. Legitimate property lists contain few shared values.
  private var most: Int { min(1_000_000 + 10 * bytes.count, Int(UInt32.max)) }

  private func references(of value: Int) throws -> (start: Int, count: Int) {
    var place = try number(at: table + value * offsetSize, size: offsetSize)
    let marker = Int(try number(at: place, size: 1))
    let kind = marker >> 4
    // Arrays, ordered sets, sets and dictionaries.
    guard [0xA, 0xB, 0xC, 0xD].contains(kind) else { return (0, 0) }
    place += 1
    var count = marker & 15
    if count == 15 {
      let size = 1 << Int(try number(at: place, size: 1) & 15)
      guard size <= 8 else { throw malformed }
      count = try number(at: place + 1, size: size)
      place += 1 + size
    }
    if kind == 0xD { count = count.multipliedReportingOverflow(by: 2).partialValue }
    guard count >= 0, count <= bytes.count / referenceSize, place + count * referenceSize <= bytes.count else {
      throw malformed
    }
    return (place, count)
  }
}
