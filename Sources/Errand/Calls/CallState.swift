import ErrandFoundation

/// The state of a call; pure.
struct CallState {
  var life = CallLife()
  var deadline: Task<Void, Never>?
  /// The fields that the server gave any request that was built.
  var serverHeaders = HTTPHeaders()
  /// The reason for no further attempt, and the number that there might have been.
  var refusal: (reason: String, mostAttempts: Int?)?
  /// The moments of the shared calls that this one joined, one array per join.
  var shared: [[FlightRecord.Entry]] = []
  /// True when the server may have seen a request of the call.
  var wasPerhapsSent = false
  /// Whether a request that may be sent only once was sent, as steps may make it.
  var hasSentOnceOnly = false
  /// The method and the URL of the last request.
  var method: HTTPMethod?
  var url: URL?
  /// The method and the URL of the request that was built; nil where nothing can end the call before it is sent.
  var built: (method: HTTPMethod, url: URL)?
  /// The head of the last response.
  var response: HTTPResponse?
  /// The head of the answer that was accepted, where what is made of it failed, or was cancelled.
  var failedAnswer: (head: HTTPResponse, isCancelled: Bool)?
  var bytesSent = 0
  /// The reason why the last 206 or 304 does not answer its request, in case a step makes another response of it.
  var unexpected: String?
  /// The number of the last attempt; 0 before the first.
  private var lastAttempt = 0
  /// The closure that lets the machine sleep again.
  var release: (@Sendable () -> Void)?
  /// True when the request says which version the call's file has.
  var hasCurrentFile = false
  /// The fields by which the call's file is chosen, where its version is kept.
  var fileSelection: HTTPHeaders?
  /// The stamp of the file that was put in its place, where its version is kept.
  var fileStamp: String?
  /// The use of the cache; nil where there is none.
  var cacheRun: CacheRun?

  /// The method and the URL that people see: of the last request, or of the one that was never sent.
  var shown: (method: HTTPMethod?, url: URL?) { (method ?? built?.method, url ?? built?.url) }

  /// Begins an attempt; returns its number.
  mutating func beginAttempt() -> Int {
    (unexpected, refusal) = (nil, nil)
    return nextAttempt()
  }

  /// The number of the next attempt or hedge.
  mutating func nextAttempt() -> Int {
    lastAttempt += 1
    return lastAttempt
  }

  /// Notes the header fields that a build of the request got from the server: none of them may leave its origin, whichever
  /// build a step sends.
  mutating func note(serverHeaders headers: HTTPHeaders) {
    guard !serverHeaders.isEmpty else { return serverHeaders = headers }
    for field in headers where !serverHeaders.fields.contains(field) { serverHeaders.add(field.value, for: field.name) }
  }

  /// The parts of the last state that the end of a call is about, with what the call no longer needs: to be released outside
  /// of any lock, for a task that is held keeps its result, which may hold the call.
  struct Ended {
    /// The method and the URL that people see.
    let shown: (method: HTTPMethod?, url: URL?)
    let response: HTTPResponse?
    let bytesSent: Int
    let deadline: Task<Void, Never>?
    let release: (@Sendable () -> Void)?
    fileprivate let work: (any Cancellable)?
    fileprivate let cacheRun: CacheRun?

    /// What is shown of it, which may be a while later: without the bytes of bodies, which nothing would count until then.
    var head: Ended {
      var head = response
      if let response { head?.body = HTTPResponseBody(Data(), trailers: response.body.trailers) }
      return Ended(
        shown: shown, response: head, bytesSent: bytesSent, deadline: nil, release: nil, work: nil, cacheRun: nil)
    }
  }

  /// Ends the call; nil where it had ended before.
  mutating func end() -> Ended? {
    let (isFirst, work) = life.end()
    guard isFirst else { return nil }
    // The call may live as long as what it gave; the use of the cache holds the call.
    return Ended(
      shown: shown, response: response.take(), bytesSent: bytesSent, deadline: deadline, release: release,
      work: work, cacheRun: cacheRun.take())
  }
}
