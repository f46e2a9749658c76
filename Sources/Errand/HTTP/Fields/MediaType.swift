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
    Substring(rawValue.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingSpaces().lowercased()
  }

  /// The value of a parameter, unquoted: `charset`, `boundary`. Names are compared without regard to case.
  public func parameter(_ name: String) -> String? {
    var scanner = FieldScanner(rawValue)
    _ = scanner.text(before: UInt8(ascii: ";"))
    let name = name.lowercased()
    return scanner.parameters().first { $0.0 == name }?.1
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
  /// The text without the blanks and tabs around it (RFC 9110 §5.6.3: optional white space).
  package func trimmingSpaces() -> Substring {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
    else { return self[endIndex...] }
    return self[first...last]
  }
}
