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
    (rawValue.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? "")
      .trimmingSpaces().lowercased()
  }

  /// The value of a parameter, unquoted: `charset`, `boundary`. Names are compared without regard to case.
  public func parameter(_ name: String) -> String? {
    for parameter in rawValue.split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmingSpaces().lowercased() == name.lowercased() else { continue }
      let value = parts[1].trimmingSpaces()
      return value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
        ? String(value.dropFirst().dropLast()) : String(value)
    }
    return nil
  }

  /// True where people can read a body of this type: text, JSON, XML or a form.
  public var isText: Bool {
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
  /// `text/plain; charset=utf-8`.
  public static let plainText: MediaType = "text/plain; charset=utf-8"
}

extension Substring {
  /// The text without the blanks and tabs around it (RFC 9110 §5.6.3: optional white space).
  package func trimmingSpaces() -> Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
