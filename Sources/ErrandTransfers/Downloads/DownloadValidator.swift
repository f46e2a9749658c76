import Errand
import ErrandFoundation

/// A strong validator: two responses that share it have identical bytes (RFC 9110 §8.8.1).
struct DownloadValidator: Codable, Sendable, Equatable {
  enum Kind: String, Codable, Sendable {
    case eTag, lastModified
  }

  let kind: Kind
  /// The field value, as sent in `If-Range`.
  let text: String

  /// Creates a validator from a response's header fields. `nil` if they don't contain a strong validator.
  init?(_ headers: HTTPHeaders) {
    // RFC 9110 §13.1.5: never use a weak tag, and use a date only if the tag is missing.
    guard !headers.contains(.eTag) else {
      guard let tag = headers.single(.eTag).flatMap({ EntityTag($0) }), !tag.isWeak else { return nil }
      (kind, text) = (.eTag, tag.text)
      return
    }
    guard let modified = headers.single(.lastModified), Self.isStrong(modified, headers) else { return nil }
    (kind, text) = (.lastModified, modified)
  }

  /// The minimum number of seconds between `Last-Modified` and `Date`. It rules out another change within the same
  /// second, even if the server's clocks differ.
  private static let margin: TimeInterval = 60

  // RFC 9110 §8.8.2.2: `Date` must be late enough to compensate for clock differences.
  private static func isStrong(_ modified: String, _ headers: HTTPHeaders) -> Bool {
    guard let date = headers.single(.date).flatMap({ HTTPDate.parse($0) }), let modified = HTTPDate.parse(modified)
    else {
      return false
    }
    return date.timeIntervalSince(modified) >= margin
  }

  /// Whether a partial response with these header fields belongs to the version with this validator.
  func isOf(_ headers: HTTPHeaders) -> Bool {
    switch kind {
    case .eTag:
      // RFC 9110 §15.3.7: a 206 contains the tag of the 200. Without a tag, the server may have ignored `If-Range`.
      guard let own = EntityTag(text) else { return false }
      return headers.single(.eTag).flatMap { EntityTag($0) }?.matchesStrongly(own) ?? false
    case .lastModified:
      // RFC 9110 §15.3.7.2: a 206 may omit the date if `If-Range` contained it.
      return !headers.contains(.lastModified) || headers.single(.lastModified) == text
    }
  }
}
