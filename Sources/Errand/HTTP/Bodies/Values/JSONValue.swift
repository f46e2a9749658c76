import ErrandFoundation

/// Any JSON value (RFC 8259), for bodies without a dedicated Swift type.
///
///     let answer = try await Endpoint<Void, JSONValue>.get("widgets/7").send()
///     let name = answer["name"]?.string
///
/// Integers of up to 64 bits are exact. Other numbers are `Double`. The order of an object's keys is lost.
public enum JSONValue: TaskPayload, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// An integer in the range of `Int64`.
  case integer(Int64)
  /// An integer above the range of `Int64`.
  case unsigned(UInt64)
  /// Any other number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// The value for a key of an object, or `nil` if the value is not an object or lacks the key.
  ///
  /// Setting `nil` removes the key. Setting a key of a value that is not an object replaces the value with an object.
  public subscript(_ key: String) -> JSONValue? {
    get { object?[key] }
    set {
      guard object != nil || newValue != nil else { return }
      var members = object ?? [:]
      members[key] = newValue
      self = .object(members)
    }
  }

  /// The element of an array at an index, or `nil` if the value is not an array or the index is out of bounds.
  ///
  /// Setting `nil`, or setting an index that is out of bounds, does nothing.
  public subscript(_ index: Int) -> JSONValue? {
    get {
      guard let array, array.indices.contains(index) else { return Optional.none }  // `nil` alone would mean `.null`
      return array[index]
    }
    set {
      guard case .array(var elements) = self, elements.indices.contains(index), let newValue else { return }
      elements[index] = newValue
      self = .array(elements)
    }
  }

  /// The string, or `nil` for any other value.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The Boolean, or `nil` for any other value.
  public var bool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The number, if `Int` can represent it exactly, or `nil` for any other value.
  public var int: Int? {
    switch self {
    case .integer(let number): Int(exactly: number)
    case .unsigned(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }

  /// The number, rounded if it has more than 53 bits, or `nil` for any other value.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The elements of an array, or `nil` for any other value.
  public var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object, or `nil` for any other value.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// Whether the value is `null`.
  public var isNull: Bool { self == .null }
}

extension JSONValue {
  /// The normalized number: 1, 1.0 and an unsigned 1 are equal, as in JSON.
  private var canonical: JSONValue {
    switch self {
    case .unsigned(let number): Int64(exactly: number).map { .integer($0) } ?? self
    case .number(let number):
      Int64(exactly: number).map { .integer($0) } ?? UInt64(exactly: number).map { .unsigned($0) } ?? self
    default: self
    }
  }

  /// Whether two values are equal. Numbers are compared by value.
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

  /// Hashes the value.
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
