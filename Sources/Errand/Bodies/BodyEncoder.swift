public import Foundation

/// Turns a value into the bytes of a request body.
public protocol BodyEncoder: Sendable {
  /// What the bytes are; sent as `Content-Type`.
  var mediaType: MediaType { get }

  /// The bytes of `value`. Throws when it cannot be encoded; the request is then not sent.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
  /// `application/json`.
  public var mediaType: MediaType { .json }
}
