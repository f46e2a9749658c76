/// A media type such as `application/json; charset=utf-8` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The complete value, as in a header.
  public let rawValue: String

  /// Creates a media type from its header value.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Creates a media type from its header value.
  public init(stringLiteral value: String) { rawValue = value }

  /// The complete value, as in a header.
  public var description: String { rawValue }

  /// The type and subtype in lower case, without parameters, such as `application/json`.
  public var essence: String {
    // Work on bytes, because Swift merges a semicolon and a following combining accent into one character.
    Substring(rawValue.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingHTTPSpaces().lowercased()
  }

  /// Returns the unquoted value of a parameter such as `charset` or `boundary`, or `nil` if it is missing. The name is
  /// case-insensitive.
  ///
  /// Parameters are parsed as in browsers (MIME Sniffing §4.4): malformed ones are ignored, and if a name is repeated,
  /// the first one is used.
  public func parameter(_ name: String) -> String? {
    let name = name.lowercased()
    return parameters.first { $0.name == name }?.value
  }

  /// Whether bodies of this type are text, such as plain text, JSON, XML, JavaScript or a form.
  public var isText: Bool {
    if rawValue == MediaType.json.rawValue { return true }
    let essence = essence
    return essence.hasPrefix("text/") || essence.hasSuffix("json") || essence.hasSuffix("xml")
      || essence == MediaType.form.rawValue || essence.hasSuffix("javascript")
  }

  /// `application/x-www-form-urlencoded`.
  public static let form: MediaType = "application/x-www-form-urlencoded"
  /// `application/json`.
  public static let json: MediaType = "application/json"
  /// `application/octet-stream`.
  public static let octetStream: MediaType = "application/octet-stream"
  /// `application/problem+json` (RFC 9457).
  public static let problem: MediaType = "application/problem+json"
  /// `application/x-plist`, the type that Apple's servers and apps use for property lists.
  public static let propertyList: MediaType = "application/x-plist"
  /// `text/plain; charset=utf-8`.
  public static let plainText: MediaType = "text/plain; charset=utf-8"
}

extension Substring {
  /// Returns the text without surrounding spaces and tabs (RFC 9110 §5.6.3: optional whitespace).
  package func trimmingSpaces() -> Substring { trimming { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

  /// Returns the text without surrounding spaces, tabs and line breaks (Fetch §2.2: HTTP whitespace).
  func trimmingHTTPSpaces() -> Substring { trimming { FieldScanner.isHTTPSpace($0) } }

  func trimming(_ isSpace: (UInt8) -> Bool) -> Substring {
    guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
    else { return self[endIndex...] }
    return self[first...last]
  }
}
