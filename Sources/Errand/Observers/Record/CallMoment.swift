/// An event during a call, as listed in a ``FlightRecord`` and reported to observers.
///
/// Every `…Started` moment is followed by exactly one matching `…Ended` moment.
public enum CallMoment: Sendable {
  /// The call began.
  case callStarted
  /// The call is waiting for access to the named serial queue.
  case turnWaitStarted(queue: String)
  /// The wait for the serial queue has ended: the call has access, or was cancelled.
  case turnWaitEnded
  /// An attempt started. The first attempt is 1.
  case attemptStarted(Int)
  /// A request has a slot and is about to be sent. Also reported for redirects. Not included in flight records.
  case requested(RequestLine)
  /// The attempt is waiting for a slot. The wait ends with ``admitted(after:)`` or ``leftQueue(after:)``.
  case queued
  /// The attempt got a slot after waiting this long.
  case admitted(after: Duration)
  /// The attempt left the queue without a slot after this time, because it was cancelled or exceeded a limit.
  case leftQueue(after: Duration)
  /// The host name was resolved for a new connection. Not reported if the host is an IP address.
  ///
  /// This moment and the next three are reported only to observers and the log. They are reported with their actual
  /// times when the response head arrives or the transfer fails. Flight records have ``AttemptRecord/timings`` instead.
  case nameResolved
  /// A new connection was established to this address and port. Empty if they are unknown.
  case connected(to: String)
  /// A new connection's TLS handshake was completed.
  case secured
  /// The request head was sent, along with the body if it is short.
  case requestSent
  /// Bytes of a body were sent or received. Reported only to observers that ask for progress, at most 20 times a second
  /// and at the end of the body.
  case progressed(TransferProgress)
  /// The response head arrived.
  case responded(HTTPStatus, isConnectionReused: Bool)
  /// The attempt follows a redirect to this URL, with secrets hidden.
  case redirected(to: String)
  /// The response body ended after this number of bytes.
  case bodyReceived(bytes: Int)
  /// The attempt ended.
  indirect case attemptEnded(Int, AttemptRecord)
  /// The attempt is waiting for a new token. All waiting requests share one token refresh.
  case refreshStarted
  /// The wait for the token has ended, whether or not the refresh succeeded.
  case refreshEnded
  /// The call is waiting to retry. The duration is the delay, and `reason` explains the retry.
  case delayStarted(Duration, reason: String)
  /// The wait before a retry has ended or was interrupted.
  case delayEnded
  /// The attempt is waiting for a network. `reason` is the connection failure.
  case networkWaitStarted(reason: String)
  /// The wait for a network has ended.
  case networkWaitEnded
  /// The policy allowed a retry or hedge of the attempt, but it was not made. `reason` explains why.
  case retryRefused(reason: String)
  /// No response has arrived yet, so the attempt with this number is started concurrently.
  case hedgeSent(Int)
  /// The call is waiting for the response of the identical call with this number, instead of sending its own request.
  case joined(call: Int)
  /// A cached response was returned.
  case cacheAnswered(CacheStatus)
  /// The request is sent to the server because the cache has no usable response.
  case cacheMissed(CacheStatus.Forward)
  /// The server confirmed that the cached response is still valid.
  case cacheValidated
  /// The body was decoded into the payload.
  case decoded
  /// The call ended.
  case callEnded(CallOutcome)
}

/// A call's outcome.
public enum CallOutcome: Sendable {
  /// The call succeeded, with the last status if there was a response.
  case succeeded(HTTPStatus?)
  /// The call threw an error. This is a one-line description of the error, with secrets hidden.
  case failed(String)
  /// The call was cancelled.
  case cancelled

  /// Returns this outcome, with `status` added if the outcome is a success without a status.
  func with(_ status: HTTPStatus?) -> CallOutcome {
    if case .succeeded(nil) = self { .succeeded(status) } else { self }
  }
}

extension CallMoment: CustomStringConvertible {
  /// A short description of the moment.
  public var description: String {
    switch self {
    case .callStarted: "call started"
    case .turnWaitStarted(let queue): "waiting for the serial queue '\(queue)'"
    case .turnWaitEnded: "finished waiting for the serial queue"
    case .attemptStarted(let number): "attempt " + String(number) + " started"
    case .requested(let line): line.description
    case .queued: "waiting for a slot"
    case .admitted(let wait): "admitted after " + wait.formattedSeconds
    case .leftQueue(let wait): "no slot after \(wait.formattedSeconds)"
    case .nameResolved: "host name resolved"
    case .connected(let address): "connected\(address.isEmpty ? "" : " to \(address)")"
    case .secured: "TLS handshake completed"
    case .requestSent: "request sent"
    case .progressed(let progress): "\(progress)"
    case .responded(let status, let isReused): status.description + (isReused ? ", reused connection" : "")
    case .redirected(let address): "redirected to \(address)"
    case .bodyReceived(let bytes): "body of " + String(bytes) + " bytes"
    case .attemptEnded(let number, let record):
      "attempt " + String(number) + " ended: " + record.outcome
        + (record.wasResent ? ", resent on a new connection" : "")
    case .refreshStarted: "waiting for a new token"
    case .refreshEnded: "finished waiting for the token"
    case .delayStarted(let delay, let reason): "waiting \(delay.formattedSeconds) to retry: \(reason)"
    case .delayEnded: "finished waiting"
    case .networkWaitStarted(let reason): "waiting for a network: \(reason)"
    case .networkWaitEnded: "finished waiting for a network"
    case .retryRefused(let reason): "not retried: \(reason)"
    case .hedgeSent(let number): "no response yet: starting attempt \(number) concurrently"
    case .joined(let call): "joined call \(call), which sends the same request"
    case .cacheAnswered(let status): "served from the cache: \(status)"
    case .cacheMissed(let reason): "not served from the cache: \(reason.rawValue)"
    case .cacheValidated: "the cached response is still valid"
    case .decoded: "decoded"
    case .callEnded(.succeeded(let status)): "call succeeded" + (status.map { " with " + $0.description } ?? "")
    case .callEnded(.failed(let reason)): "call failed: \(reason)"
    case .callEnded(.cancelled): "call cancelled"
    }
  }
}

extension CallMoment {
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
    case .networkWaitStarted: "networkWaitStarted"
    case .networkWaitEnded: "networkWaitEnded"
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
