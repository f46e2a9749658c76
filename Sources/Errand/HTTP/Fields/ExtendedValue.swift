/// A value with its charset, as parameters with a star have it: `UTF-8''%e2%82%ac` (RFC 8187 §3.2).
enum ExtendedValue {
  /// The text; nil where it is none, or in another charset than UTF-8 and ISO-8859-1.
  static func text(of value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    switch parts[0].lowercased() {
    case "utf-8": return parts[2].percentDecoded
    case "iso-8859-1":
      return parts[2].percentDecodedBytes.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }
    default: return nil
    }
  }
}
