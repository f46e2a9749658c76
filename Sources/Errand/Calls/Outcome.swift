import Foundation

/// What a call came to, before it is made into what the verb returns.
struct Outcome: Sendable {
  let call: Call
  let response: HTTPResponse
  /// The body, where it was collected.
  let data: Data
}

extension Outcome {
  func decoded<Payload: Decodable & Sendable>(_ type: Payload.Type) throws -> Payload {
    let decoder = call.plan.decoder
    do {
      let payload = try PayloadCoding.decode(
        type, from: data, mediaType: response.mediaType,
        with: decoder is InheritedCoding ? call.snapshot.configuration.defaultDecoder : decoder,
        redaction: call.shownRedaction)
      call.trace.note(.decoded)
      return payload
    } catch let error as TaskError {
      throw error.with(response, data, call.snapshot.configuration)
    }
  }
}
