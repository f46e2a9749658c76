/// A parser and the properties that hold for any input. The fuzzing program and the tests share it.
struct FuzzTarget: Sendable {
  /// The name of the target and of its folder in `Corpus`.
  let name: String
  /// Parses the bytes without checking any property, because the steps are counted.
  let parse: @Sendable (_ bytes: [UInt8]) -> Void
  /// Inputs of about `size` bytes that are slow for a parser that backtracks.
  let hostile: [@Sendable (_ size: Int) -> [UInt8]]
  /// Throws ``FuzzFinding`` if a property does not hold for the bytes.
  let check: @Sendable (_ bytes: [UInt8]) throws -> Void

  init(
    _ name: String, hostile: [@Sendable (_ size: Int) -> [UInt8]], parse: @escaping @Sendable ([UInt8]) -> Void,
    check: @escaping @Sendable ([UInt8]) throws -> Void
  ) {
    self.name = name
    self.hostile = hostile
    self.parse = parse
    self.check = check
  }

  static let all: [FuzzTarget] = [
    .heads, .fields, .mediaType, .multipart, .events, .lines, .link, .disposition, .setCookie, .dates, .query, .form,
    .url,
  ]
}

/// The error for a property that does not hold for an input.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String
}

/// Throws if a property does not hold.
func holds(_ property: Bool, _ words: @autoclosure () -> String) throws {
  if !property { throw FuzzFinding(description: words()) }
}

/// Returns about `size` bytes, with `text` repeated between `begin` and `end`.
func repeating(
  _ text: String, after begin: String = "", and end: String = ""
) -> @Sendable (_ size: Int) -> [UInt8] {
  { size in
    let times = max(1, size / text.utf8.count)
    return Array(begin.utf8) + Array(repeatElement(Array(text.utf8), count: times).joined()) + Array(end.utf8)
  }
}

/// Returns about `size` bytes of texts that differ only in a number.
func numbering(
  _ text: @escaping @Sendable (_ number: Int) -> String, between begin: String = "", and end: String = ""
) -> @Sendable (_ size: Int) -> [UInt8] {
  { size in
    var bytes = Array(begin.utf8)
    var number = 0
    while bytes.count < size {
      // All numbers have the same length, so twice the size means twice as many texts.
      bytes += Array(text(1_000_000 + number).utf8)
      number += 1
    }
    return bytes + Array(end.utf8)
  }
}

extension String {
  /// Decodes UTF-8 and replaces invalid bytes.
  init(_ bytes: [UInt8]) { self.init(decoding: bytes, as: UTF8.self) }

  /// A quoted string with this text (RFC 9110 §5.6.4).
  var quoted: String {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    return String(bytes + [UInt8(ascii: "\"")])
  }

  /// Whether the text contains a CR, an LF or a NUL, which would end a header value.
  var breaksLine: Bool { utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 } }
}
