import ErrandFoundation

/// A parameter value that includes its charset, such as `UTF-8''%e2%82%ac` (RFC 8187 §3.2). The names of such
/// parameters end in `*`.
enum ExtendedValue {
  /// Decodes a well-formed value in UTF-8 or ISO-8859-1. Returns `nil` for any other value.
  static func text(of value: String) -> String? {
    let parts = value.utf8.split(separator: apostrophe, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].allSatisfy(isValueByte) else { return nil }
    let charset = String(Substring(parts[0]))
    guard charset.lowercased() == "utf-8" || charset.lowercased() == "iso-8859-1" else { return nil }
    return Substring(parts[2]).percentDecodedBytes.flatMap { text(of: $0, in: charset) }
  }

  /// Decodes a file name as leniently as browsers do: accepts any charset or none, missing apostrophes, and unescaped
  /// characters. Returns `nil` if the value is empty or invalid in its charset.
  static func lenientText(of value: String) -> String? {
    let (charset, text) = parts(of: value)
    return text.isEmpty ? nil : text.percentDecodedBytes.flatMap { Self.text(of: $0, in: charset) }
  }

  /// Returns the charset, which is empty if missing, and the percent-encoded text after the language.
  static func parts(of value: String) -> (charset: String, text: String) {
    let parts = value.utf8.split(separator: apostrophe, maxSplits: 2, omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return ("", value) }
    return (String(Substring(first)), String(Substring(last)))
  }

  /// Decodes the bytes. Returns `nil` if the charset is unknown or the bytes are invalid in it. An empty charset means
  /// UTF-8, with ISO-8859-1 as the fallback.
  static func text(of bytes: [UInt8], in charset: String) -> String? {
    switch charset.lowercased() {
    case "": String(validating: bytes, as: UTF8.self) ?? windows1252(bytes)
    // The Encoding Standard maps this label to windows-1252, which replaces control characters with printable ones.
    case "iso-8859-1": windows1252(bytes)
    default: try? Charset.text(of: Data(bytes), in: charset)
    }
  }

  private static func windows1252(_ bytes: [UInt8]) -> String {
    (try? Charset.text(of: Data(bytes), in: "windows-1252"))
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static let apostrophe = UInt8(ascii: "'")

  // RFC 8187 §3.2.1: pct-encoded and attr-char, which is a token character other than "*", "'" and "%".
  private static func isValueByte(_ byte: UInt8) -> Bool {
    HTTPHeaderName.isTokenByte(byte) && byte != UInt8(ascii: "*")
  }
}
