import ErrandFoundation

/// The `Content-Disposition` field (RFC 6266; for parts of forms RFC 7578 §4.2).
///
/// Malformed fields are read as Firefox reads them: without a type, with parameters that are malformed, with quotes that are not
/// closed.
public struct ContentDisposition: Sendable, Hashable {
  /// `attachment`, `inline` or `form-data`, in lower case. Empty if the sender left it out: treat it as `attachment`.
  public let type: String
  /// The parameters by their names in lower case, the first of each name, as they were sent.
  public let parameters: [String: String]

  /// Reads the value of a field. Returns `nil` if it has neither a type nor a parameter.
  public init?(_ value: String) {
    var scanner = FieldScanner(value)
    scanner.skipBlanks()
    let token = scanner.token() ?? ""
    scanner.skipBlanks()
    type = scanner.next == UInt8(ascii: "=") ? "" : token.lowercased()
    // A comma ends the type too, because some servers send the field twice in one line.
    _ = scanner.take { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
    _ = scanner.skip(UInt8(ascii: ";")) || scanner.skip(UInt8(ascii: ","))
    scanner.skipBlanks()
    if scanner.isAtEnd { scanner = FieldScanner(value) }
    let all = [scanner.parameter()].compactMap { $0 } + scanner.parameters()
    parameters = Dictionary(all.compactMap { name, value in value.map { (name, $0) } }) { first, _ in first }
    guard !type.isEmpty || !parameters.isEmpty else { return nil }
  }

  /// The name of a part of a form.
  public var name: String? { parameters["name"] }

  /// The file name that the sender suggests, as it was sent. It may contain folders: don't use it as a path.
  ///
  /// `filename*` counts first (RFC 6266 §4.3), then `filename*0`, `filename*1` and so on (RFC 2231 §3), then `filename`, whose encoded
  /// words (RFC 2047) are decoded.
  public var fileName: String? {
    parameters["filename*"].flatMap { ExtendedValue.lenientText(of: $0) } ?? continuedFileName
      ?? parameters["filename"].map { EncodedWords.decoded($0) }
  }

  /// The text of `filename*0` and the segments that follow it. A segment with a star is percent-encoded, and the first one
  /// states the charset.
  private var continuedFileName: String? {
    var bytes: [UInt8] = []
    var charset = ""
    var index = 0
    while true {
      if let segment = parameters["filename*\(index)"] {
        bytes += Array(segment.utf8)
      } else if let segment = parameters["filename*\(index)*"] {
        var text = segment
        if index == 0 { (charset, text) = ExtendedValue.parts(of: segment) }
        guard let decoded = text.percentDecodedBytes else { return nil }
        bytes += decoded
      } else {
        break
      }
      index += 1
    }
    return bytes.isEmpty ? nil : ExtendedValue.text(of: bytes, in: charset)
  }
}

extension HTTPResponse {
  /// A name for a file with this body, safe to be used in any folder.
  ///
  /// It is the last part of what `Content-Disposition` says, else of the URL's path, else `download`; with the extension of the
  /// media type where it has none. Slashes of either kind, control characters, and dots and blanks at its ends are taken out, and it
  /// has at most 200 bytes.
  public var suggestedFileName: String {
    SafeFileName.suggestion(
      of: [headers.contentDisposition?.fileName, url.path(percentEncoded: false)], for: mediaType)
  }
}
