import Foundation

/// Stands for the server's encoder or decoder where a task names none.
struct InheritedCoding: BodyEncoder, PayloadDecoder {
  private struct NotResolved: Error {}

  var mediaType: MediaType { .octetStream }
  func encode<Value: Encodable>(_ value: Value) throws -> Data { throw NotResolved() }
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload { throw NotResolved() }
}
