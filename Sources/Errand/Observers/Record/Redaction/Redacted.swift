/// A value that never appears in logs, echoes, pages, recordings or descriptions.
///
///     struct Login: TaskPayload {
///       let user: String
///       @Redacted var answer: String
///     }
///
/// The value is encoded, decoded and sent normally. After it has been encoded or decoded once, every ``Redaction`` in
/// the process that hides names also hides the values with the same coding key, in JSON, forms, queries and header
/// fields. For a value in a dictionary, this is the coding key of the dictionary. An optional that is `nil` is omitted.
///
/// If a response can't be decoded, the error may show an excerpt in which these names are not known yet. To hide them,
/// list the names in ``Redaction/fields``.
@propertyWrapper public struct Redacted<Value: Sendable>: Sendable {
  /// The value, which is not redacted.
  public var wrappedValue: Value

  /// Creates a hidden value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Creates a hidden value.
  public init(_ value: Value) { wrappedValue = value }
}

extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always ``Redaction/mark``.
  public var description: String { Redaction.mark }
  /// Always ``Redaction/mark``.
  public var debugDescription: String { Redaction.mark }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redacted: Encodable where Value: Encodable {
  /// Encodes the value without a wrapper.
  public func encode(to encoder: any Encoder) throws {
    LearnedSecrets.learn(encoder.codingPath)
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension Redacted: Decodable where Value: Decodable {
  /// Decodes the value without a wrapper.
  public init(from decoder: any Decoder) throws {
    LearnedSecrets.learn(decoder.codingPath)
    wrappedValue = try decoder.singleValueContainer().decode(Value.self)
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional value. Returns `nil` if the key is missing.
  public func decode<Value: Decodable>(_ type: Redacted<Value?>.Type, forKey key: Key) throws -> Redacted<Value?> {
    LearnedSecrets.learn([key])
    return Redacted(try decodeIfPresent(Value.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Encodes an optional value. Omits the key if the value is `nil`.
  public mutating func encode<Value: Encodable>(_ value: Redacted<Value?>, forKey key: Key) throws {
    LearnedSecrets.learn([key])
    try encodeIfPresent(value.wrappedValue, forKey: key)
  }
}

/// The names of all ``Redacted`` values in the process. Values with these names are hidden in every server's logs.
package enum LearnedSecrets {
  private static let names = Lock<Set<[UInt8]>>([])
  /// The number of learned names that are not declared by a type.
  private static let others = Lock(0)

  /// Learns the last declared name in a path, so that a dictionary is hidden as a whole. If the path contains no
  /// declared name, learns its last name.
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

  private static let room = 1000

  package static var count: Int { names.withLock { $0.count } }

  static func contains(_ name: [UInt8]) -> Bool { names.withLock { !$0.isEmpty && $0.contains(name) } }
}
