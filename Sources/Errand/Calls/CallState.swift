import ErrandFoundation

struct CallState {
  var life = CallLife()
  var deadline: Task<Void, Never>?
  /// The header fields that the server's configuration added in any build of the request.
  var serverHeaders = HTTPHeaders()
  /// The reason why the last failure was not retried, and the policy's maximum number of attempts.
  var refusal: (reason: String, mostAttempts: Int?)?
  /// The record entries of the shared calls that this call joined, with one array per shared call.
  var shared: [[FlightRecord.Entry]] = []
  var sent = Sent.nothing
  /// The last request's method and URL, to display. `nil` until the first request is built.
  var shown: (method: HTTPMethod, url: URL)?
  var response: HTTPResponse?
  /// The head of the accepted response.
  var accepted: HTTPResponse?
  var bytesSent = 0
  private var lastAttempt = 0
  /// The closure returned by `backgroundActivity`. It allows the device to sleep again.
  var release: (@Sendable () -> Void)?
  /// The header fields that select the call's file, if the call keeps it current.
  var selection = HTTPHeaders()
  private(set) var openedBodies: [OpenedBody] = []

  /// A file or a stream to close when the call ends. `body` is `nil` if it has been released, which has closed it. Read
  /// `body` outside the lock, because releasing a body calls the call's end handlers.
  struct OpenedBody {
    weak var body: HTTPResponseBody?
  }

  /// Records a body that the call must close. Returns `false` if the call has already ended.
  mutating func opened(_ body: HTTPResponseBody) -> Bool {
    if life.hasEnded { return false }
    openedBodies.append(OpenedBody(body: body))
    return true
  }

  mutating func beginAttempt() -> Int {
    refusal = nil
    return nextAttempt()
  }

  /// Increments and returns the number of attempts, including hedges.
  mutating func nextAttempt() -> Int {
    lastAttempt += 1
    return lastAttempt
  }

  /// Records the header fields that the server's configuration added in a build of the request. A step may send the
  /// request of any build, and these fields must not be sent to another origin.
  mutating func note(serverHeaders headers: HTTPHeaders) {
    guard !serverHeaders.isEmpty else { return serverHeaders = headers }
    for field in headers where !serverHeaders.fields.contains(field) { serverHeaders.add(field.value, for: field.name) }
  }

  /// The final state, plus references to release outside the lock. A retained Swift task keeps its result alive, which
  /// may hold the call.
  struct Ended {
    let cause: CallLife.Cause?
    let shown: (method: HTTPMethod, url: URL)?
    let response: HTTPResponse?
    let bytesSent: Int
    let deadline: Task<Void, Never>?
    let release: (@Sendable () -> Void)?
    let openedBodies: [OpenedBody]
    fileprivate let work: (any Cancellable)?

    /// The state for recorders, which may keep it for a while. Omits the body, because its memory would not be
    /// accounted for.
    var head: Ended {
      Ended(
        cause: cause, shown: shown, response: response?.head, bytesSent: bytesSent, deadline: nil, release: nil,
        openedBodies: [], work: nil)
    }
  }

  /// Ends the call. Returns `nil` if the call has already ended.
  mutating func end() -> Ended? {
    let (isFirst, work) = life.end()
    guard isFirst else { return nil }
    return Ended(
      cause: life.cause, shown: shown, response: response.take(), bytesSent: bytesSent, deadline: deadline,
      release: release, openedBodies: openedBodies, work: work)
  }
}
