import ErrandFoundation

/// The `Content-Disposition` field (RFC 6266, and RFC 7578 §4.2 for form parts).
///
/// Malformed fields are parsed as in Firefox: the type can be missing, parameters can be malformed, and quotes can be
/// unclosed.
public struct ContentDisposition: Sendable, Hashable {
  /// The type in lower case, such as `attachment`, `inline` or `form-data`. If it is empty, treat it as `attachment`.
  public let type: String
  /// The parameters as they were sent, keyed by lowercase name. If a name is repeated, the first value is kept.
  public let parameters: [String: String]

  /// Parses a field value. Returns `nil` if it has neither a type nor a parameter.
  public init?(_ value: String) {
    var scanner = FieldScanner(value)
    scanner.skipBlanks()
    let token = scanner.token() ?? ""
    scanner.skipBlanks()
    type = scanner.next == UInt8(ascii: "=") ? "" : token.lowercased()
    // A comma also ends the type, because some servers send the field twice in one line.
    _ = scanner.take { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
    _ = scanner.skip(UInt8(ascii: ";")) || scanner.skip(UInt8(ascii: ","))
    scanner.skipBlanks()
    if scanner.isAtEnd { scanner = FieldScanner(value) }
    let all = [scanner.parameter()].compactMap { $0 } + scanner.parameters()
    parameters = Dictionary(all.compactMap { name, value in value.map { (name, $0) } }) { first, _ in first }
    guard !type.isEmpty || !parameters.isEmpty else { return nil }
  }

  /// The name of the form part.
  public var name: String? { parameters["name"] }

  /// The file name suggested by the sender. It isn't sanitized and can contain path separators, so don't use it as a
  /// path.
  ///
  /// Taken from `filename*` (RFC 6266 §4.3) or, if it is missing or invalid, from `filename*0`, `filename*1` and so on
  /// (RFC 2231 §3). If they are missing too, taken from `filename`, with encoded words (RFC 2047) decoded.
  public var fileName: String? {
    parameters["filename*"].flatMap { ExtendedValue.lenientText(of: $0) } ?? continuedFileName
      ?? parameters["filename"].map { EncodedWords.decoded($0) }
  }

  /// The joined text of `filename*0` and the following segments. Segments whose names end in `*` are percent-encoded.
  /// The first segment specifies the charset.
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
  /// A file name for this body, safe to use in any folder.
  ///
  /// Taken from `Content-Disposition` or, if that has no file name, from the last component of the URL's path. Defaults
  /// to `download`. If the name has no extension, the media type's extension is added. Slashes, backslashes and control
  /// characters are removed, as are dots and spaces at both ends. The name is at most 200 bytes long.
  public var suggestedFileName: String {
    SafeFileName.suggestion(
      of: [headers.contentDisposition?.fileName, url.path(percentEncoded: false)], for: mediaType)
  }
}
