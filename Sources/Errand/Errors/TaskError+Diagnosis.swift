extension TaskError {
  /// The most likely cause of the failure, with advice. `nil` for custom codes.
  public var diagnosis: Diagnosis? { cause.map { Diagnosis($0) } }

  package var cause: Diagnosis.Cause? { Self.causes[code] ?? narrowedCause }

  /// The cause of each code that has only one.
  private static let causes: [Code: Diagnosis.Cause] = [
    .disabled: .disabled, .noRemote: .noRemote, .unknownRemote: .unknownRemote, .badURL: .badURL,
    .insecureScheme: .insecureScheme, .badLimit: .badLimit, .badRequest: .badRequest, .unknownStep: .badRequest,
    .encodingFailed: .encodingFailed, .unreadableBody: .unreadableBody, .bodyNotReplayable: .bodyNotReplayable,
    .bodyLengthMismatch: .bodyLengthMismatch, .bodyConsumed: .bodyConsumed, .reentrantQueue: .reentrantQueue,
    .queueFull: .queueFull,
    .circuitOpen: .circuitOpen,
    .notCached: .notCached, .notRecorded: .notRecorded, .transportUnavailable: .transportUnavailable,
    .cannotResolveHost: .cannotResolveHost,
    .forbiddenAddress: .forbiddenAddress, .offline: .offline, .pinMismatch: .pinMismatch,
    .proxyAuthenticationRequired: .proxyAuthenticationRequired, .proxyRefused: .proxyRefused,
    .authenticationFailed: .authenticationFailed,
    .signInRequired: .signInRequired, .truncatedBody: .truncatedBody, .notModified: .notModified,
    .tooManyRedirects: .tooManyRedirects, .badRedirect: .badRedirect, .bodyTooLarge: .bodyTooLarge,
    .digestMismatch: .digestMismatch, .transferInUse: .transferInUse, .fileNotWritable: .fileNotWritable,
    .internal: .internal,
  ]

  private var narrowedCause: Diagnosis.Cause? {
    switch code {
    case .cannotConnect: connectCause
    // The phase is `.preparing` if the transport lacks a feature that the settings require.
    case .secureConnectionFailed where says(Self.certificatesReason): .unusableCertificates
    case .secureConnectionFailed where phase == .preparing: .transportUnavailable
    case .secureConnectionFailed: isAnsweredInPlain ? .plainServer : .tlsRefused
    case .untrustedServer: certificateCause
    case .connectionLost: lossCause
    case .timedOut: timer.map { limitCause($0) }
    case .badResponse: says("HTTP/0.9") || says("status line") ? .notHTTP : .badResponse
    case .decodingFailed: shapeCause
    case .badStatus: status.map { statusCause($0.code) }
    default: nil
    }
  }

  /// The end of the reason if the body is empty.
  static let emptyBodyReason = "the body is empty, but the payload is not optional"
  /// The start of the reason if the certificates in the transport's settings can't be used.
  static let certificatesReason = "the certificates set for the transport cannot be used"

  private func says(_ words: String) -> Bool { reason.lowercased().contains(words.lowercased()) }

  // Match whole phrases, because the reason also contains the host name, such as expired.example.

  private var connectCause: Diagnosis.Cause {
    if says("no route to host") || says("is unreachable") { return .unreachable }
    return says("the proxy returned") ? .badGateway : .connectionRefused
  }

  // The messages of OpenSSL, GnuTLS and Secure Transport if the server's first bytes are not TLS.
  private var isAnsweredInPlain: Bool {
    ["wrong version number", "unexpected TLS packet", "packet length too long", "http request", "record overflow"]
      .contains { says($0) }
  }

  private var certificateCause: Diagnosis.Cause {
    func saysAny(_ words: [String]) -> Bool { words.contains { says($0) } }
    if saysAny(["does not match", "no alternative certificate subject name", "no subjectAltName"]) {
      return .certificateName
    }
    let isOutdated = saysAny(["has expired", "certificate expired", "not yet valid", "not valid yet"])
    return isOutdated ? .certificateExpired : .certificateUnknown
  }

  private var lossCause: Diagnosis.Cause {
    if says("pooled connection") || attempts.last?.wasResent == true && !wasNotSent { return .idleConnectionLost }
    return phase == .sending ? .lostWhileSending : .lostBeforeResponse
  }

  private func limitCause(_ timer: Timeouts.Timer) -> Diagnosis.Cause {
    switch (timer, phase) {
    case (_, .awaitingNetwork): .offline
    case (.call, _): attempts.count > 1 || phase == .delaying ? .deadlineInRetries : .deadline
    case (.queue, _), (_, .waiting): .slowQueue
    case (.connect, _), (_, .connecting): .slowConnect
    case (_, .sending): .slowUpload
    case (.idle, _), (_, .receiving): .slowBody
    default: .slowServer
    }
  }

  private var shapeCause: Diagnosis.Cause {
    if reason.hasSuffix(Self.emptyBodyReason) { return .emptyBody }
    let essence = headers.mediaType?.essence
    if essence == "text/html" || essence == "application/xhtml+xml" { return .htmlInsteadOfData }
    // The JSON and property list decoders identify data in the wrong format only by this message.
    if case DecodingError.dataCorrupted(let context)? = underlying, context.codingPath.isEmpty,
      context.debugDescription.hasPrefix("The given data was not")
    {
      return .wrongFormat
    }
    return .wrongShape
  }

  private func statusCause(_ status: Int) -> Diagnosis.Cause {
    switch status {
    case 206: .partialBody
    case 200 where says("it does not support Range"): .rangeIgnored
    case ..<300: .unacceptedStatus
    case 300..<400: .notFollowed
    case 400: .malformedRequest
    case 401: .unauthorized
    case 403: .forbidden
    case 404: .notFound
    case 405: .methodNotAllowed
    case 406: .notAcceptable
    case 407: .proxyAuthenticationRequired
    case 408: .slowUpload
    case 409: .conflict
    case 410: .gone
    case 412: .preconditionFailed
    case 413: .contentTooLarge
    case 414: .urlTooLong
    case 415: .unsupportedMediaType
    case 416: .unsatisfiableRange
    case 422: .unprocessableContent
    case 428: .preconditionRequired
    case 429: .rateLimited
    case 431: .headersTooLarge
    case 451: .unavailableForLegalReasons
    case 400..<500: .clientError
    case 502: .badGateway
    case 503: .overloaded
    case 504: .gatewayTimeout
    default: .serverError
    }
  }
}
