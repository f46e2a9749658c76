/// A value that is shown nowhere: in no log, echo, page, record or description.
///
///     struct Login: TaskPayload {
///       let user: String
///       @Redacted var answer: String
///     }
///
/// It is encoded and decoded as its value, and so sent as it is. The name that it is encoded or decoded under is hidden from then on, in all that
/// the process shows with any ``Redaction`` that hides names: in JSON, forms, queries and header fields. In a dictionary that is the name of the
/// dictionary. An optional that is nil is left out.
///
/// A response that cannot be decoded is shown, in part, before its names are known: list those in ``Redaction/fields``.
@propertyWrapper public struct Redacted<Value: Sendable>: Sendable {
  /// The value.
  public var wrappedValue: Value

  /// A value to hide.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// A value to hide.
  public init(_ value: Value) { wrappedValue = value }
}

extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// ``Redaction/mark``.
  public var description: String { Redaction.mark }
  /// ``Redaction/mark``.
  public var debugDescription: String { Redaction.mark }
  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redacted: Encodable where Value: Encodable {
  /// Encodes the value, in its place.
  public func encode(to encoder: any Encoder) throws {
    LearnedSecrets.learn(encoder.codingPath)
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension Redacted: Decodable where Value: Decodable {
  /// Decodes the value, in its place.
  public init(from decoder: any Decoder) throws {
    LearnedSecrets.learn(decoder.codingPath)
    wrappedValue = try decoder.singleValueContainer().decode(Value.self)
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional: nil where the key is missing.
  public func decode<Value: Decodable>(_ type: Redacted<Value?>.Type, forKey key: Key) throws -> Redacted<Value?> {
    LearnedSecrets.learn([key])
    return Redacted(try decodeIfPresent(Value.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Encodes an optional: nothing where it is nil.
  public mutating func encode<Value: Encodable>(_ value: Redacted<Value?>, forKey key: Key) throws {
    LearnedSecrets.learn([key])
    try encodeIfPresent(value.wrappedValue, forKey: key)
  }
}

/// The names of all values that were redacted by their type, in the whole process: no log of another server shows them either.
enum LearnedSecrets {
  private static let names = Lock<Set<[UInt8]>>([])
  /// The number of those that no type declares.
  private static let others = Lock(0)

  /// Notes the last name of a path that a type declares: what is in a dictionary below it is hidden with all of that. Where no type declares
  /// one, the last of all.
  static func learn(_ path: [any CodingKey]) {
    guard let key = path.last(where: { $0.place == nil && $0.isDeclared }) ?? path.last(where: { $0.place == nil })
    else { return }
    let folded = SecretNames.folded(key.stringValue.utf8)
    guard !contains(folded) else { return }
    let mayLearn =
      key.isDeclared
      || others.withLock { count in
        count += 1
        return count <= room
      }
    if mayLearn { _ = names.withLock { $0.insert(folded) } }
  }

  /// The most names that are noted of those that no type declares.
  private static let room = 1000

  /// The number of names that were noted.
  static var count: Int { names.withLock { $0.count } }

  /// True for a name in its folded form that was noted.
  static func contains(_ name: [UInt8]) -> Bool { names.withLock { !$0.isEmpty && $0.contains(name) } }
}
