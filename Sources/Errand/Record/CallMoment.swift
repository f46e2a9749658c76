/// Something that happened in the life of a call; the entries of a ``FlightRecord`` and the substance of an event.
///
/// Every `…Started` has exactly one matching `…Ended`, whatever happens.
public enum CallMoment: Sendable {
  /// The call began.
  case callStarted
  /// The call waits for its turn in the serial queue of this name.
  case turnWaitStarted(queue: String)
  /// That wait is over: its turn has come, or it was cancelled.
  case turnWaitEnded
  /// An attempt began; the first is 1.
  case attemptStarted(Int)
  /// This request is about to be sent, once it has a slot; told to observers and to the log, for each hop of a redirect.
  case requested(RequestLine)
  /// The attempt waits for a slot. The wait ends with ``admitted(after:)`` or ``leftQueue(after:)``.
  case queued
  /// The slot was granted after the given wait.
  case admitted(after: Duration)
  /// The wait ended without a slot: it was cancelled, or a limit was reached.
  case leftQueue(after: Duration)
  /// The host's name was looked up, for a new connection; not told of an address.
  ///
  /// This and the next three are told to observers and to the log, with the head of the response or with the failure; their times are
  /// those at which they happened. A record has them as the ``AttemptRecord/timings`` of its attempts.
  case nameResolved
  /// A new connection stands, to this address and port where they are known.
  case connected(to: String)
  /// The TLS handshake of a new connection is done.
  case secured
  /// The head of the request was sent, and with it a body that is short.
  case requestSent
  /// Bytes of a body went up or came down; told to observers that want progress, at most 20 times a second and at the end.
  case progressed(TransferProgress)
  /// The head of a response came.
  case responded(HTTPStatus, isConnectionReused: Bool)
  /// That response points elsewhere, and is followed to this URL, secrets hidden; the attempt goes on.
  case redirected(to: String)
  /// The body ended after the given number of bytes.
  case bodyReceived(bytes: Int)
  /// The attempt is over.
  indirect case attemptEnded(Int, AttemptRecord)
  /// The attempt waits for a new token, which is got once for all that wait.
  case refreshStarted
  /// The wait for the token is over, whether it came or not.
  case refreshEnded
  /// The call waits before it tries again, for the reason given.
  case delayStarted(Duration, reason: String)
  /// The wait is over, or was cut short.
  case delayEnded
  /// A failed attempt is not retried, or a slow one not hedged, though the policy would: for the reason given.
  case retryRefused(reason: String)
  /// There is no answer yet: the attempt of this number is made beside those under way.
  case hedgeSent(Int)
  /// The call waits for the response of the call of this number, which sends the same request for all who want it.
  case joined(call: Int)
  /// A stored response answers.
  case cacheAnswered(CacheStatus)
  /// The request goes to the remote, for the reason given: the cache has no answer, or may not give it.
  case cacheMissed(CacheStatus.Forward)
  /// The remote says that the stored response is still good.
  case cacheValidated
  /// The body became a payload.
  case decoded
  /// The call is over.
  case callEnded(CallOutcome)
}

/// The outcome of a call.
public enum CallOutcome: Sendable {
  /// It gave its result, with the last status if there was a response.
  case succeeded(HTTPStatus?)
  /// It threw the error of this one-line description, secrets hidden.
  case failed(String)
  /// It was cancelled.
  case cancelled

  /// The same; a result with this status where it states none.
  func with(_ status: HTTPStatus?) -> CallOutcome {
    if case .succeeded(nil) = self { .succeeded(status) } else { self }
  }
}

extension CallMoment: CustomStringConvertible {
  /// The moment in a few words. Those of every call are joined: an interpolation takes several times longer.
  public var description: String {
    switch self {
    case .callStarted: "call started"
    case .turnWaitStarted(let queue): "waiting for its turn in the queue '\(queue)'"
    case .turnWaitEnded: "wait for its turn over"
    case .attemptStarted(let number): "attempt " + String(number) + " started"
    case .requested(let line): line.description
    case .queued: "waiting for a slot"
    case .admitted(let wait): "admitted after " + wait.formattedSeconds
    case .leftQueue(let wait): "no slot after \(wait.formattedSeconds)"
    case .nameResolved: "name looked up"
    case .connected(let address): "connected\(address.isEmpty ? "" : " to \(address)")"
    case .secured: "TLS handshake done"
    case .requestSent: "request sent"
    case .progressed(let progress): "\(progress)"
    case .responded(let status, let isReused): status.description + (isReused ? ", reused connection" : "")
    case .redirected(let address): "redirected to \(address)"
    case .bodyReceived(let bytes): "body of " + String(bytes) + " bytes"
    case .attemptEnded(let number, let record):
      "attempt " + String(number) + " ended: " + record.outcome
        + (record.wasResent ? ", sent again on a fresh connection" : "")
    case .refreshStarted: "waiting for a new token"
    case .refreshEnded: "wait for the token over"
    case .delayStarted(let delay, let reason): "waiting \(delay.formattedSeconds) to retry: \(reason)"
    case .delayEnded: "wait over"
    case .retryRefused(let reason): "no other attempt: \(reason)"
    case .hedgeSent(let number): "no answer yet: attempt \(number) beside it"
    case .joined(let call): "joined call \(call), which sends the same request"
    case .cacheAnswered(let status): "answered from the cache: \(status)"
    case .cacheMissed(let reason): "not answered from the cache: \(reason.rawValue)"
    case .cacheValidated: "the stored response is still good"
    case .decoded: "decoded"
    case .callEnded(.succeeded(let status)): "call succeeded" + (status.map { " with " + $0.description } ?? "")
    case .callEnded(.failed(let reason)): "call failed: \(reason)"
    case .callEnded(.cancelled): "call cancelled"
    }
  }
}

extension CallMoment {
  /// The name of the case.
  package var kind: String {
    switch self {
    case .callStarted: "callStarted"
    case .turnWaitStarted: "turnWaitStarted"
    case .turnWaitEnded: "turnWaitEnded"
    case .attemptStarted: "attemptStarted"
    case .requested: "requested"
    case .queued: "queued"
    case .admitted: "admitted"
    case .leftQueue: "leftQueue"
    case .nameResolved: "nameResolved"
    case .connected: "connected"
    case .secured: "secured"
    case .requestSent: "requestSent"
    case .progressed: "progressed"
    case .responded: "responded"
    case .redirected: "redirected"
    case .bodyReceived: "bodyReceived"
    case .attemptEnded: "attemptEnded"
    case .refreshStarted: "refreshStarted"
    case .refreshEnded: "refreshEnded"
    case .delayStarted: "delayStarted"
    case .delayEnded: "delayEnded"
    case .retryRefused: "retryRefused"
    case .hedgeSent: "hedgeSent"
    case .joined: "joined"
    case .cacheAnswered: "cacheAnswered"
    case .cacheMissed: "cacheMissed"
    case .cacheValidated: "cacheValidated"
    case .decoded: "decoded"
    case .callEnded: "callEnded"
    }
  }
}
