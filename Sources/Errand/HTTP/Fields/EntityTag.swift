/// An entity tag: the name of one version of a resource (RFC 9110 §8.8.3).
struct EntityTag: Sendable, Hashable {
  /// The tag as it is sent: `"abc"`, or `W/"abc"` for a weak one.
  let text: String
  /// True when two versions that differ in bytes may have the same tag.
  let isWeak: Bool
  /// The tag without the `W/` that says that it is weak.
  private let opaque: String

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
    self.opaque = String(opaque)
  }

  /// A tag to ask for a copy with (`If-None-Match`), as a server wrote it: one that breaks the grammar, such as `abc` without quotes,
  /// is a weak tag of just these characters. Browsers send it back as it came, and servers that write it compare it as text.
  ///
  /// Never for ranges or uploads: nothing says that its versions have the same bytes. `nil` for text that another request would be
  /// made of: `*`, or several tags.
  init?(lenient text: String) {
    if let tag = EntityTag(text) {
      self = tag
      return
    }
    let text = text[...].trimmingSpaces()
    let members = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
    guard Self.mayBeSent(String(text)), !members.contains("*"), !members.contains(""),
      members.count == 1 || !text.contains("\"")
    else { return nil }
    (self.text, opaque, isWeak) = (String(text), String(text), true)
  }

  /// True for a validator that may be part of a request: one of more than 4 KiB could make its head too large, and keep it from
  /// being sent for ever.
  static func mayBeSent(_ validator: String) -> Bool {
    validator.utf8.count <= 4 << 10 && !validator.hasReplacements
  }

  /// True when both are strong and the same: the bytes are the same (RFC 9110 §8.8.3.2).
  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque.hasSameBytes(as: other.opaque)
  }

  /// True when both are the same, weak or strong: one will do for the other (RFC 9110 §8.8.3.2).
  func matchesWeakly(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }
}

extension HTTPHeaders {
  /// The tag to ask with whether a copy is still good; `nil` if none can be sent.
  var tagForCopy: EntityTag? { values(for: .eTag).first.flatMap { EntityTag(lenient: $0) } }

  /// The date to ask with whether a copy is still good, as the server wrote it; `nil` if none can be sent.
  var dateForCopy: String? {
    values(for: .lastModified).first.flatMap { $0.isEmpty || !EntityTag.mayBeSent($0) ? nil : $0 }
  }
}

/// A condition on tags: `*`, or a list of them (RFC 9110 §13.1.1 and §13.1.2).
enum EntityTagCondition: Sendable, Equatable {
  case any
  case tags([EntityTag])

  init(_ lines: [String]) {
    let members = FieldScanner.members(of: lines)
    self = members == ["*"] ? .any : .tags(members.compactMap { EntityTag(lenient: $0) })
  }

  /// True when `If-None-Match` with this condition is false for a version: a copy of it is still good.
  func names(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
    }
  }
}
