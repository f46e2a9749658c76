public import Foundation

/// Turns the bytes of a response body into a value.
public protocol PayloadDecoder: Sendable {
  /// The value that `data` describes. Throws when it describes none.
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload
}

extension JSONDecoder: PayloadDecoder {}
