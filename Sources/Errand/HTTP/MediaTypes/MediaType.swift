/// A media type such as `application/json; charset=utf-8` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The whole value as it stands in a header.
  public let rawValue: String

  /// A media type as it stands in a header.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// A media type as it stands in a header.
  public init(stringLiteral value: String) { rawValue = value }

  /// The whole value as it stands in a header.
  public var description: String { rawValue }

  /// Type and subtype in lower case, without parameters: `application/json`.
  public var essence: String {
    // By bytes: to Swift a semicolon and an accent behind it are one character.
    Substring(rawValue.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingHTTPSpaces().lowercased()
  }

  /// The value of a parameter, unquoted: `charset`, `boundary`. Names are compared without regard to case.
  ///
  /// Parameters are read as browsers read them (MIME Sniffing §4.4): a malformed one is ignored, and so is all but the first of a
  /// name.
  public func parameter(_ name: String) -> String? {
    let name = name.lowercased()
    return parameters.first { $0.name == name }?.value
  }

  /// True where people can read a body of this type: text, JSON, XML or a form.
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
  /// `application/x-plist`, as Apple's servers and apps call a property list.
  public static let propertyList: MediaType = "application/x-plist"
  /// `text/plain; charset=utf-8`.
  public static let plainText: MediaType = "text/plain; charset=utf-8"
}

extension Substring {
  /// The text without the spaces and tabs around it (RFC 9110 §5.6.3: optional whitespace).
  package func trimmingSpaces() -> Substring { trimming { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

  /// The text without the spaces, tabs and line breaks around it (Fetch §2.2: HTTP whitespace).
  func trimmingHTTPSpaces() -> Substring { trimming { FieldScanner.isHTTPSpace($0) } }

  func trimming(_ isSpace: (UInt8) -> Bool) -> Substring {
    guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
    else { return self[endIndex...] }
    return self[first...last]
  }
}
