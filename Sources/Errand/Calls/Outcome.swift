package import ErrandFoundation

/// The outcome of an attempt, and later of its call: the response and the body read so far.
package struct Outcome: Sendable {
  package let call: Call
  package var response: HTTPResponse
  /// Whether the call accepts the status. A response with any other status may be retried, and never replaces a file.
  let isSuccess: Bool
  var content: Content
  /// An attempt that has not ended yet, because its status is not accepted and its body is unread.
  var unfinished: Attempt?
  /// Whether the `verify` hooks have accepted the head.
  var isVerified = false
  /// Whether the cache has started to store the response.
  var isStored = false
  /// How a 304 or HEAD response may update stored responses. `nil` for other responses, or if a step answered.
  var update: CacheUpdate?
  var file: URL?

  /// The body, as far as the call has read it.
  enum Content: Sendable {
    /// The caller reads the body, or a step answered the request.
    case unread
    case memory(Data)
    /// `shown` is the part to echo and record. `nil` if nothing is shown.
    case discarded(size: Int, shown: Data?)
    case file(size: Int)
  }

  package init(_ call: Call, _ response: consuming HTTPResponse) { self.init(call, response, .unread) }

  init(_ call: Call, _ response: consuming HTTPResponse, _ content: Content) {
    self.call = call
    isSuccess = call.plan.acceptedStatuses.contains(response.status)
    self.response = response
    self.content = content
  }

  /// The bytes of the body. Empty if the body was discarded, written to a file or left for the caller to read.
  package var data: Data { if case .memory(let data) = content { data } else { Data() } }

  var size: Int {
    switch content {
    case .unread: 0
    case .memory(let data): data.count
    case .discarded(let size, _), .file(let size): size
    }
  }

  /// The bytes to echo and record. `nil` if the body has not been read.
  var shown: Data? {
    switch content {
    case .unread: nil
    case .memory(let data): data
    case .discarded(_, let shown): shown ?? Data()
    case .file: Data()
    }
  }

  var isRead: Bool { if case .unread = content { false } else { true } }

  /// How the body is read.
  var intake: Intake {
    switch call.destination {
    case .memory where isAccepted && !isUnexpectedWhole: .data
    case .stream where isAccepted: .head
    case .discarded where isAccepted: .discard
    case .file(let place) where isSuccess && isWhole: .file(place)
    case .memory, .stream, .discarded, .file: .excerpt
    }
  }

  var isAccepted: Bool {
    // File downloads always throw on a bad status, because they return a file.
    isSuccess || (returnsOthers && !call.destination.isFile)
  }

  private var returnsOthers: Bool {
    let statuses = call.plan.acceptedStatuses
    return statuses.returnsOthers
      || (statuses.isInherited && !call.snapshot.configuration.reportBadHTTPStatusAsError)
  }

  /// Whether the body is the requested content. A 304 has no body, and a 206 must match the request's `Range` (RFC 9110
  /// §15.3.7).
  var isWhole: Bool {
    switch response.status {
    case .notModified: false
    case .partialContent: response.unexpected == nil
    // RFC 9110 §14.2: a server may ignore `Range`, and the caller would mistake the entire body for the requested part.
    case .ok, 203: call.plan.range?.isAll ?? true
    // RFC 9110 §15.3.5 and §15.3.6: the response has no body, which is not the same as an empty file.
    case .noContent, 205: !call.destination.isFile
    default: true
    }
  }

  /// Whether a part was requested but the server sent the entire body, which may be of any size.
  private var isUnexpectedWhole: Bool { call.plan.range != nil && [.ok, 203].contains(response.status) && !isWhole }
}

typealias AttemptResult = Result<Outcome, any Error>

extension AttemptResult {
  func discard() { if case .success(let outcome) = self { outcome.response.body.cancel() } }

  /// Keeps the better of two results and discards the response of the other.
  mutating func replace(with other: AttemptResult, if isBetter: Bool) {
    (isBetter ? self : other).discard()
    if isBetter { self = other }
  }
}

extension Call {
  /// Returns the task's decoder, or the server's decoder for the media type.
  func decoder(for mediaType: @autoclosure () -> MediaType?) -> any PayloadDecoder {
    guard plan.decoder.isInherited else { return plan.decoder }
    // Don't copy the configuration, which would retain all its references.
    guard !snapshot.configuration.decoders.isEmpty, let essence = mediaType()?.essence else {
      return snapshot.configuration.defaultDecoder
    }
    return snapshot.configuration.decoders.first { $0.key.essence == essence }?.value
      ?? snapshot.configuration.defaultDecoder
  }
}

extension Outcome {
  func decoded<Payload: Decodable & Sendable>(_ type: Payload.Type) throws -> Payload {
    let (call, headers) = (call, response.headers)  // avoids copying all of `self` into the closures
    do {
      let payload = try PayloadCoding.decode(
        type, from: data, mediaType: headers.mediaType, with: call.decoder(for: headers.mediaType),
        at: call.plan.payloadPath.keys(for: type, under: call.snapshot.configuration.payloadPath),
        redaction: call.shownRedaction)
      call.trace.note(.decoded)
      return payload
    } catch let error as TaskError {
      var error = error
      if !isSuccess { error.reason = "\(response.status): \(error.reason)" }
      throw error.with(response, data, call.snapshot.configuration)
    }
  }
}

extension HTTPResponse {
  /// The timeline of the call that returned this response. Empty if the response did not come from a call.
  public var record: FlightRecord { (call as? Call)?.flightRecord ?? FlightRecord() }

  /// The metrics of the call that returned this response. For a stream, they are complete once the body has been read
  /// or released.
  public var metrics: TaskMetrics { record.metrics }
}
