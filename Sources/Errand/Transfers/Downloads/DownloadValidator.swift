import ErrandFoundation

/// A strong validator: two responses that have it are of the same bytes (RFC 9110 §8.8.1).
struct DownloadValidator: Codable, Sendable, Equatable {
  enum Kind: String, Codable, Sendable {
    case eTag, lastModified
  }

  let kind: Kind
  /// The field's value, as `If-Range` takes it.
  let text: String

  /// The validator of a response; nil where it has none that is strong.
  init?(_ headers: HTTPHeaders) {
    // RFC 9110 §13.1.5: no weak tag, and a date only where there is no tag at all.
    guard !headers.contains(.eTag) else {
      guard let tag = headers.single(.eTag).flatMap({ EntityTag($0) }), !tag.isWeak else { return nil }
      (kind, text) = (.eTag, tag.text)
      return
    }
    guard let modified = headers.single(.lastModified), Self.isStrong(modified, headers) else { return nil }
    (kind, text) = (.lastModified, modified)
  }

  /// The time after which a file of that date would not have been changed once more within the same second, whichever of the server's
  /// clocks said so.
  private static let margin: TimeInterval = 60

  // RFC 9110 §8.8.2.2: the date of the response is later, by enough that the clocks do not matter.
  private static func isStrong(_ modified: String, _ headers: HTTPHeaders) -> Bool {
    guard let date = headers.single(.date).flatMap({ HTTPDate.parse($0) }), let modified = HTTPDate.parse(modified)
    else {
      return false
    }
    return date.timeIntervalSince(modified) >= margin
  }

  /// True where a part is of the version that has this validator.
  func isOf(_ headers: HTTPHeaders) -> Bool {
    switch kind {
    case .eTag:
      // RFC 9110 §15.3.7: a 206 has the tag that the 200 would have had. One without may be of a server that ignores If-Range.
      guard let own = EntityTag(text) else { return false }
      return headers.single(.eTag).flatMap { EntityTag($0) }?.matchesStrongly(own) ?? false
    case .lastModified:
      // RFC 9110 §15.3.7.2: the date may be left out where If-Range has it.
      return !headers.contains(.lastModified) || headers.single(.lastModified) == text
    }
  }
}
