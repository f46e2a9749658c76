public import ErrandFoundation

/// The payload of a request or response: a value that can be encoded, decoded and passed between isolation domains.
///
/// In an app whose default isolation is the main actor, conform to this instead of `Codable`: the conformance can then
/// be used from any isolation domain. Basic types are payloads, and so are arrays, sets, optionals and string-keyed
/// dictionaries of payloads.
public protocol TaskPayload: Codable, Sendable {}

extension Array: TaskPayload where Element: TaskPayload {}
extension Set: TaskPayload where Element: TaskPayload {}
extension Optional: TaskPayload where Wrapped: TaskPayload {}
extension Dictionary: TaskPayload where Key == String, Value: TaskPayload {}

extension String: TaskPayload {}
extension Bool: TaskPayload {}
extension Int: TaskPayload {}
extension Int8: TaskPayload {}
extension Int16: TaskPayload {}
extension Int32: TaskPayload {}
extension Int64: TaskPayload {}
extension UInt: TaskPayload {}
extension UInt8: TaskPayload {}
extension UInt16: TaskPayload {}
extension UInt32: TaskPayload {}
extension UInt64: TaskPayload {}
extension Double: TaskPayload {}
extension Float: TaskPayload {}

extension Data: TaskPayload {}
extension Date: TaskPayload {}
extension Decimal: TaskPayload {}
extension URL: TaskPayload {}
extension UUID: TaskPayload {}

protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  var isNil: Bool { self == nil }
}
