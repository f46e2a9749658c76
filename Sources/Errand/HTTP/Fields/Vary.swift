/// The fields of a request by which its response was chosen (RFC 9110 §12.5.5).
enum Vary: Sendable, Equatable {
  /// Something besides the request: the response fits no other one.
  case anything
  /// These fields; none where the response fits every request.
  case fields([HTTPHeaderName])

  init(_ headers: HTTPHeaders) {
    guard headers.contains(.vary) else {
      self = .fields([])
      return
    }
    let members = FieldScanner.members(of: headers.values(for: .vary))
    self = members.contains("*") ? .anything : .fields(members.map { HTTPHeaderName($0) })
  }

  /// The value of a field of a request, in the form in which it is compared: all lines as one list, without the blanks
  /// around its members (RFC 9111 §4.1). Nil where the request does not have the field.
  static func value(of name: HTTPHeaderName, in headers: HTTPHeaders) -> String? {
    guard headers.contains(name) else { return nil }
    return FieldScanner.members(of: headers.values(for: name)).joined(separator: ",")
  }

  /// True when two such values are the same: both missing, or byte by byte.
  static func isSame(_ value: String?, _ other: String?) -> Bool {
    guard let value, let other else { return value == nil && other == nil }
    return value.hasSameBytes(as: other)
  }
}

/// The `Age` of a response (RFC 9111 §5.1).
enum Age {
  /// The seconds since the response left its origin or was validated there; nil where the field is missing or malformed.
  static func seconds(in headers: HTTPHeaders) -> Int? {
    guard let line = headers.values(for: .age).first else { return nil }
    // RFC 9111 §5.1: of a list the first counts; what is no number is ignored.
    return FieldScanner.members(of: [line]).first.flatMap { DeltaSeconds.parse($0) }
  }
}
