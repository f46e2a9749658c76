/// An entity tag: the name of one version of a resource (RFC 9110 §8.8.3).
struct EntityTag: Sendable, Hashable {
  /// The tag as it is sent: `"abc"`, or `W/"abc"` for a weak one.
  let text: String
  /// True when two versions that differ in bytes may have the same tag.
  let isWeak: Bool

  /// A tag as a field has it; nil where the text is none, or none that could be sent back as it came.
  init?(_ text: some StringProtocol) {
    let text = Substring(text).trimmingSpaces()
    guard Self.mayBeSent(String(text)) else { return nil }
    isWeak = text.hasPrefix("W/")  // RFC 9110 §8.8.3: case-sensitive
    let opaque = isWeak ? text.dropFirst(2) : text
    guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
      opaque.utf8.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) })
    else { return nil }
    self.text = String(text)
  }

  /// True for a validator that may be part of a request: one of more than 4 KiB could make its head too large, and keep it from
  /// being sent for ever.
  static func mayBeSent(_ validator: String) -> Bool {
    validator.utf8.count <= 4 << 10 && !validator.hasReplacements
  }

  private var opaque: Substring.UTF8View { isWeak ? text.dropFirst(2).utf8 : text[...].utf8 }

  /// True when both are strong and the same: the bytes are the same (RFC 9110 §8.8.3.2).
  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque.elementsEqual(other.opaque)
  }

  /// True when both are the same, weak or strong: one will do for the other (RFC 9110 §8.8.3.2).
  func matchesWeakly(_ other: EntityTag) -> Bool { opaque.elementsEqual(other.opaque) }
}

/// A condition on tags: `*`, or a list of them (RFC 9110 §13.1.1 and §13.1.2).
enum EntityTagCondition: Sendable, Equatable {
  case any
  case tags([EntityTag])

  init(_ lines: [String]) {
    let members = FieldScanner.members(of: lines)
    self = members == ["*"] ? .any : .tags(members.compactMap { EntityTag($0) })
  }

  /// True when `If-None-Match` with this condition is false for a version: a copy of it is still good.
  func names(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
    }
  }
}
