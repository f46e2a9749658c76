/// An entity tag, which identifies a version of a resource (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// The tag as it is sent: `"abc"`, or `W/"abc"` for a weak tag.
  package let text: String
  /// Whether two versions with different bytes can share the tag.
  package let isWeak: Bool
  private let opaque: String

  /// Parses a tag. Returns `nil` if the text is invalid or can't be sent back unchanged.
  package init?(_ text: some StringProtocol) {
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

  /// Parses a tag for `If-None-Match`, accepting invalid syntax such as `abc` without quotes. An invalid tag is treated
  /// as weak. Browsers send such tags back unchanged, and the servers that generate them compare the text.
  ///
  /// Don't use this initializer for ranges or uploads, because equal tags don't guarantee equal bytes. Returns `nil`
  /// for `*` and for several tags, which would change the meaning of the request.
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

  /// Whether a validator can be sent in a request, which means that it is valid UTF-8 of at most 4 KiB. A longer
  /// validator could make every later request too large.
  static func mayBeSent(_ validator: String) -> Bool {
    validator.utf8.count <= 4 << 10 && !validator.hasReplacements
  }

  /// Whether both tags are strong and equal, so the bytes are the same (RFC 9110 §8.8.3.2).
  package func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque.hasSameBytes(as: other.opaque)
  }

  /// Whether the tags are equal, weak or strong (RFC 9110 §8.8.3.2).
  func matchesWeakly(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }
}

extension HTTPHeaders {
  /// The tag for revalidating a stored response, or `nil` if it is missing or can't be sent.
  var tagForCopy: EntityTag? { values(for: .eTag).first.flatMap { EntityTag(lenient: $0) } }

  /// The unparsed `Last-Modified` value for revalidating a stored response, or `nil` if it is missing or can't be sent.
  var dateForCopy: String? {
    values(for: .lastModified).first.flatMap { $0.isEmpty || !EntityTag.mayBeSent($0) ? nil : $0 }
  }
}

/// The value of `If-Match` or `If-None-Match`: `*` or a list of tags (RFC 9110 §13.1.1 and §13.1.2).
enum EntityTagCondition: Sendable, Equatable {
  case any
  case tags([EntityTag])

  init(_ lines: [String]) {
    let members = FieldScanner.members(of: lines)
    self = members == ["*"] ? .any : .tags(members.compactMap { EntityTag(lenient: $0) })
  }

  /// Whether the condition includes a tag. If it does, `If-None-Match` is false and the stored copy is still valid.
  func names(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
    }
  }
}
