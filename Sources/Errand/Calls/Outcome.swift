package import Foundation

/// The outcome of a call, before it becomes what the verb returns.
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

/// The destination of an accepted response's body.
package enum Delivery: Sendable {
  /// Read and forgotten.
  case discarded
  /// Collected in memory.
  case memory
  /// Written to a file, which is replaced once the body is complete.
  case file(URL)
  /// Left to the caller, as it comes.
  case stream

  /// True when a body goes no further than the call's own memory.
  var isInMemory: Bool {
    switch self {
    case .discarded, .memory: true
    case .file, .stream: false
    }
  }

  /// True when the call gives a body, so that a response without the whole of it will not do.
  var wantsBody: Bool {
    switch self {
    case .memory, .file: true
    case .discarded, .stream: false
    }
  }
}

extension HTTPResponse {
  /// The timeline of the call that gave this response; empty for one that did not come from a call.
  public var record: FlightRecord { (maker as? Call)?.flightRecord ?? FlightRecord() }
}
