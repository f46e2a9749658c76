import ErrandFoundation

/// Encodes an `Encodable` value as name-value pairs.
///
/// The pairs are in encoding order, but dictionaries and sets are sorted so that equal values produce equal requests.
/// Nil values are omitted.
struct FieldEncoder {
  let style: FormStyle

  /// Encodes a value. Throws `EncodingError` if the value is neither keyed nor nil.
  func fields<Value: Encodable>(of value: Value) throws -> [HTTPQuery.Item] {
    let scope = FieldScope(sink: FieldSink(), style: style, name: nil, codingPath: [])
    try scope.encode(value)
    return scope.sink.items
  }
}

private final class FieldSink {
  var items: [HTTPQuery.Item] = []
}

private struct FieldScope: Encoder, SingleValueEncodingContainer {
  let sink: FieldSink
  let style: FormStyle
  /// The name of the value. `nil` for the root value.
  let name: String?
  let codingPath: [any CodingKey]
  /// Whether the element is appended to the previous one, after a comma.
  var isJoined = false
  /// The name for values nested in an element. It contains the element's index, so that elements have different names.
  var innerName: String?

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FieldTable<Key>(scope: inside))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { FieldList(scope: inside) }

  private var inside: FieldScope {
    guard innerName != nil else { return self }
    return FieldScope(sink: sink, style: style, name: innerName, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() {}

  func encode<Value: Encodable>(_ value: Value) throws {
    if let text = try text(of: value) { return try write(text) }
    guard let unordered = value as? any Unordered else { return try value.encode(to: self) }
    try unordered.encodeInOrder(to: self)
  }

  /// Encodes into a separate list instead of the sink.
  func fields(_ encode: (FieldScope) throws -> Void) rethrows -> [HTTPQuery.Item] {
    let inner = FieldScope(
      sink: FieldSink(), style: style, name: name, codingPath: codingPath, isJoined: isJoined, innerName: innerName)
    try encode(inner)
    return inner.sink.items
  }

  func scope(of key: any CodingKey) -> FieldScope {
    FieldScope(
      sink: sink, style: style, name: style.name(of: key.stringValue, in: name), codingPath: codingPath + [key])
  }

  func scope(ofElement index: Int) -> FieldScope {
    FieldScope(
      sink: sink, style: style, name: name.map { style.name(ofElement: index, in: $0) },
      codingPath: codingPath + [FieldIndex(index)], isJoined: style.lists == .commas && index > 0,
      innerName: name.map { "\($0)[\(index)]" })
  }

  private func write(_ text: String) throws {
    guard let name else { throw problem(text, "a single value has no name: encode it as the value of a key") }
    if isJoined, let last = sink.items.indices.last, sink.items[last].name == name {
      // Append in place: copying the value for each element is O(n²).
      sink.items[last].value?.append(",\(text)")
    } else {
      sink.items.append(HTTPQuery.Item(name, text))
    }
  }

  private func text<Value: Encodable>(of value: Value) throws -> String? {
    switch value {
    case let text as String: return text
    case let flag as Bool: return style.booleans == .words ? "\(flag)" : flag ? "1" : "0"
    case let number as any BinaryInteger: return "\(number)"
    case let number as Double: return try words(for: number)
    case let number as Float: return try words(for: number)
    case let date as Date: return try words(for: date)
    case let data as Data: return data.base64EncodedString()
    case let url as URL: return url.absoluteString
    case let decimal as Decimal:
      guard !decimal.isNaN else { throw problem(decimal, "NaN can't be encoded") }
      return "\(decimal)"
    // Duration encodes itself as an array of two numbers, which no server reads as a time.
    case is Duration: throw problem(value, "a duration has no standard format: encode it as a number of seconds")
    default: return nil
    }
  }

  private func words<Number: BinaryFloatingPoint & CustomStringConvertible>(for number: Number) throws -> String {
    guard number.isFinite else { throw problem(number, "\(number) can't be encoded") }
    return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
  }

  private func words(for date: Date) throws -> String {
    let seconds = date.timeIntervalSince1970
    // RFC 3339 §1: years have four digits.
    guard seconds >= Self.years.lowerBound, seconds < Self.years.upperBound else {
      // Pass the seconds, not the date: describing a date whose interval is NaN crashes.
      throw problem(seconds, "the year of a date must be between 1 and 9999")
    }
    switch style.dates {
    case .iso8601: return date.formatted(.iso8601)
    case .secondsSince1970: return Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
    case .millisecondsSince1970:
      return Int64(exactly: (seconds * 1000).rounded()).map { "\($0)" } ?? "\(seconds * 1000)"
    case .httpDate: return HTTPDate.format(date)
    }
  }

  /// The years 1 to 9999, in seconds since 1970.
  private static let years = -62_135_596_800.0..<253_402_300_800.0

  func problem(_ value: Any, _ words: String) -> EncodingError {
    .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: words))
  }
}

private protocol Unordered {
  func encodeInOrder(to scope: FieldScope) throws
}

extension Dictionary: Unordered where Key: Encodable, Value: Encodable {
  fileprivate func encodeInOrder(to scope: FieldScope) throws {
    // Dictionaries with other key types are encoded as an array of alternating keys and values.
    guard Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type else {
      throw scope.problem(
        self, "a key of type \(Key.self) can't be used as a name: make the type conform to CodingKeyRepresentable")
    }
    let fields = try scope.fields { try encode(to: $0) }.enumerated()
    scope.sink.items += fields.sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
  }
}

extension Set: Unordered where Element: Encodable {
  fileprivate func encodeInOrder(to scope: FieldScope) throws {
    let keyed = try map { element in
      (try scope.fields { try $0.encode(element) }.map { "\($0.name)=\($0.value ?? "")" }, element)
    }
    try keyed.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1).encode(to: scope)
  }
}

private struct FieldTable<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let scope: FieldScope
  var codingPath: [any CodingKey] { scope.codingPath }

  func encodeNil(forKey key: Key) {}

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try scope.scope(of: key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { scope.scope(of: key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    scope.scope(of: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { scope }

  func superEncoder(forKey key: Key) -> any Encoder { scope.scope(of: key) }
}

private struct FieldList: UnkeyedEncodingContainer {
  let scope: FieldScope
  private(set) var count = 0

  init(scope: FieldScope) { self.scope = scope }

  var codingPath: [any CodingKey] { scope.codingPath }

  mutating func encodeNil() { count += 1 }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    guard scope.name != nil else {
      throw scope.problem(value, "an array has no names: encode it as the value of a key")
    }
    try next().encode(value)
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  mutating func superEncoder() -> any Encoder { next() }

  private mutating func next() -> FieldScope {
    defer { count += 1 }
    return scope.scope(ofElement: count)
  }
}

private struct FieldIndex: CodingKey {
  let intValue: Int?
  var stringValue: String { intValue.map { "\($0)" } ?? "" }

  init(_ index: Int) { intValue = index }
  init?(intValue: Int) { self.intValue = intValue }
  init?(stringValue: String) { nil }
}
