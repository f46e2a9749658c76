package import ErrandFoundation

/// The outcome of an attempt, and then of its call: the response, and the bytes of its body where they were read.
struct Outcome: Sendable {
  let call: Call
  var response: HTTPResponse
  /// True for a status that the call wants: others are retried, and replace no file.
  let isSuccess: Bool
  /// The bytes of the body; empty where they were dropped, and where they go to a file or a reader.
  var data = Data()
  /// The number of bytes that came.
  var size = 0
  /// The bytes that an echo and a recording show of a body that is not kept.
  var shown: Data?
  /// False while the body is still to be read: by the caller, or because a step has answered.
  var isRead = false
  /// The attempt, where it has not ended for its body is still to be read, and its status is no success.
  var unfinished: Attempt?
  /// True once the hooks of the task and the server have verified the head.
  var isVerified = false
  /// The file that the body is in; nil where it is in none.
  var file: URL?

  init(_ call: Call, _ response: consuming HTTPResponse, isRead: Bool = false) {
    self.call = call
    isSuccess = call.plan.acceptedStatuses.contains(response.status)
    self.response = response
    self.isRead = isRead
  }

  /// True when the response is returned rather than thrown as an error.
  var isAccepted: Bool {
    // Who asks for a file cannot be given the name of one that was not written.
    isSuccess || (returnsOthers && !call.delivery.isFile)
  }

  /// True where a response is returned whatever its status.
  private var returnsOthers: Bool {
    let statuses = call.plan.acceptedStatuses
    return statuses.returnsOthers
      || (statuses.isInherited && !call.snapshot.configuration.reportBadHTTPStatusAsError)
  }

  /// True when the body is the thing itself: not a 304, which says that another copy is, nor a part that was not
  /// requested (RFC 9110 §15.3.7: a 206 answers a request with Range).
  var isWhole: Bool {
    switch response.status {
    case .notModified: false
    case .partialContent: response.unexpected == nil && call.state.withLock { $0.unexpected } == nil
    // RFC 9110 §14.2: a server may ignore Range; the caller asked for a part and would take the whole for it.
    case .ok: call.plan.range?.isAll ?? true
    // RFC 9110 §15.3.5 and §15.3.6: there is none, which is not a file of no bytes.
    case .noContent, 205: !call.delivery.isFile
    default: true
    }
  }
}

extension Outcome {
  /// True where a part was requested and the server sends the whole, which may be any size.
  var isUnexpectedWhole: Bool { call.plan.range != nil && response.status == .ok && !isWhole }
}

/// The result of an attempt: a response with any status, or an error.
typealias AttemptResult = Result<Outcome, any Error>

extension AttemptResult {
  /// True where a response came.
  var isAnswer: Bool { if case .success = self { true } else { false } }

  /// Cancels the body of an unwanted response.
  func discard() { if case .success(let outcome) = self { outcome.response.body.cancel() } }

  /// Keeps the better of this result and another, and releases the response of the one that is not kept.
  mutating func replace(with other: AttemptResult, if isBetter: Bool) {
    (isBetter ? self : other).discard()
    if isBetter { self = other }
  }
}

extension Call {
  /// Decodes payloads: the task's, else the server's for the media type.
  func decoder(for mediaType: @autoclosure () -> MediaType?) -> any PayloadDecoder {
    guard plan.decoder.isInherited else { return plan.decoder }
    // Not by a copy of the configuration, which would count its every reference.
    guard !snapshot.configuration.decoders.isEmpty, let essence = mediaType()?.essence else {
      return snapshot.configuration.defaultDecoder
    }
    return snapshot.configuration.decoders.first { $0.key.essence == essence }?.value
      ?? snapshot.configuration.defaultDecoder
  }
}

extension Outcome {
  func decoded<Payload: Decodable & Sendable>(_ type: Payload.Type) throws -> Payload {
    let (call, headers) = (call, response.headers)  // what the closures capture is copied
    do {
      let payload = try PayloadCoding.decode(
        type, from: data, mediaType: headers.mediaType, with: call.decoder(for: headers.mediaType),
        at: call.plan.payloadPath.keys(for: type, under: call.snapshot.configuration.payloadPath),
        redaction: call.shownRedaction)
      call.trace.note(.decoded)
      return payload
    } catch let error as TaskError {
      throw error.with(response, data, call.snapshot.configuration)
    }
  }
}

/// The place of a file that a body is written to.
package enum FilePlace: Sendable {
  /// This file, which is replaced.
  case exact(URL)
  /// A file in this folder, named by the response; others stay unless they are to be replaced.
  case named(in: URL, replacing: Bool)

  /// The file, where it is known beforehand.
  var exact: URL? {
    if case .exact(let file) = self { file } else { nil }
  }
}

/// The destination of an accepted response's body.
package enum BodyDestination: Sendable {
  /// Read and forgotten.
  case discarded
  /// Collected in memory.
  case memory
  /// Written to a file, which is put in its place once the body is complete.
  case file(FilePlace)
  /// Left to the caller, as it comes.
  case stream

  /// True when the caller reads the body.
  var isStream: Bool {
    if case .stream = self { true } else { false }
  }

  /// True when the body is written to a file.
  var isFile: Bool {
    if case .file = self { true } else { false }
  }

  /// True when a body goes no further than the call's own memory.
  var isInMemory: Bool {
    switch self {
    case .discarded, .memory: true
    case .file, .stream: false
    }
  }

  /// True when several calls can have the same body.
  var isShareable: Bool {
    if case .memory = self { true } else { false }
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

  /// The time and attempts of that call so far: those of a stream are complete once its body was read or released.
  public var metrics: TaskMetrics { record.metrics }
}
