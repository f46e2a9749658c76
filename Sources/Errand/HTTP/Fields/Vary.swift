/// The request fields that select a response (RFC 9110 §12.5.5).
enum Vary: Sendable, Equatable {
  /// `Vary: *`. The response can't be reused for another request.
  case anything
  /// The names of the fields. Empty if the response matches every request.
  case fields([HTTPHeaderName])

  init(_ headers: HTTPHeaders) {
    guard headers.contains(.vary) else {
      self = .fields([])
      return
    }
    let members = FieldScanner.members(of: headers.values(for: .vary))
    self = members.contains("*") ? .anything : .fields(members.map { HTTPHeaderName($0) })
  }

  /// Returns the value of a request field, normalized for comparison: all values as one list, without whitespace around
  /// the members (RFC 9111 §4.1). Returns `nil` if the request doesn't have the field.
  static func value(of name: HTTPHeaderName, in headers: HTTPHeaders) -> String? {
    guard headers.contains(name) else { return nil }
    return FieldScanner.members(of: headers.values(for: name)).joined(separator: ",")
  }

  static func isSame(_ value: String?, _ other: String?) -> Bool {
    guard let value, let other else { return value == nil && other == nil }
    return value.hasSameBytes(as: other)
  }
}

/// The `Age` field of a response (RFC 9111 §5.1).
enum Age {
  /// Returns the number of seconds since the origin server generated or validated the response, or `nil` if the field
  /// is missing or malformed.
  static func seconds(in headers: HTTPHeaders) -> Int? {
    guard let line = headers.values(for: .age).first else { return nil }
    // RFC 9111 §5.1: use the first member of a list and ignore invalid values.
    return FieldScanner.members(of: [line]).first.flatMap { DeltaSeconds.parse($0) }
  }
}
