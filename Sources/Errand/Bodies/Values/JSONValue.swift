import ErrandFoundation

/// Any value of JSON (RFC 8259), for bodies without a type of their own.
///
///     let answer = try await Endpoint<Void, JSONValue>.get("widgets/7").download()
///     let name = answer["name"]?.string
///
/// Integers are exact as far as 64 bits hold them; any other number is a `Double`. The keys of an object have no order.
public enum JSONValue: TaskPayload, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number of at most 63 bits and a sign.
  case integer(Int64)
  /// A whole number above those.
  case unsigned(UInt64)
  /// Any other number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Names and values.
  case object([String: JSONValue])

  /// The value of a key of an object; nil for any other value, and without that key. Setting nil removes the key; what is no
  /// object becomes one with the first key that is set.
  public subscript(_ key: String) -> JSONValue? {
    get { object?[key] }
    set {
      guard object != nil || newValue != nil else { return }
      var members = object ?? [:]
      members[key] = newValue
      self = .object(members)
    }
  }

  /// The element of a list at an index; nil for any other value, and where there is none. Setting one that is not there, or to
  /// nil, changes nothing.
  public subscript(_ index: Int) -> JSONValue? {
    get {
      guard let array, array.indices.contains(index) else { return Optional.none }  // a nil alone would be null
      return array[index]
    }
    set {
      guard case .array(var elements) = self, elements.indices.contains(index), let newValue else { return }
      elements[index] = newValue
      self = .array(elements)
    }
  }

  /// The text; nil for any other value.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The Boolean; nil for any other value.
  public var bool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The number where it is whole and an `Int` holds it exactly; nil for any other value.
  public var int: Int? {
    switch self {
    case .integer(let number): Int(exactly: number)
    case .unsigned(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }

  /// The number, rounded where it has more than 53 bits; nil for any other value.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The elements of a list; nil for any other value.
  public var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object; nil for any other value.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// True for `null`.
  public var isNull: Bool { self == .null }
}

extension JSONValue {
  /// The same number in one form: 1, 1.0 and an unsigned 1 are equal, as they are in JSON.
  private var canonical: JSONValue {
    switch self {
    case .unsigned(let number): Int64(exactly: number).map { .integer($0) } ?? self
    case .number(let number):
      Int64(exactly: number).map { .integer($0) } ?? UInt64(exactly: number).map { .unsigned($0) } ?? self
    default: self
    }
  }

  /// True for the same value; numbers are compared as numbers.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left.canonical, right.canonical) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Feeds the value into `hasher`.
  public func hash(into hasher: inout Hasher) {
    switch canonical {
    case .null: hasher.combine(0)
    case .bool(let flag): hasher.combine(flag)
    case .integer(let number): hasher.combine(number)
    case .unsigned(let number): hasher.combine(number)
    case .number(let number): hasher.combine(number)
    case .string(let text): hasher.combine(text)
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}
