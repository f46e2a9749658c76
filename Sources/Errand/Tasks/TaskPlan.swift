import ErrandFoundation

/// All of a task's settings as one value, read once when a call begins.
///
/// Modifiers only change this value. Hooks, names, statistics and recordings still use the task as declared.
public struct TaskPlan: Sendable {
  /// The task as declared.
  public package(set) var task: any ServerTask
  /// The server that receives the request.
  public var server: Server {
    didSet {
      if let standIn { server = standIn(server) }
      kept = nil
    }
  }
  /// The server's settings when the work began that the call belongs to. `nil` for a call on its own.
  private var kept: ServerSnapshot?
  /// Maps every server to a replacement, such as one that replays a recording.
  private var standIn: (@Sendable (Server) -> Server)?
  /// The method, or `.automatic`.
  public var httpMethod: HTTPMethod
  /// Header fields that override those of the server.
  public var headers: HTTPHeaders
  /// The query items added to the task's URL.
  public var addedQuery = HTTPQuery()
  /// The encoder for payloads.
  public var encoder: any BodyEncoder
  /// The decoder for payloads.
  public var decoder: any PayloadDecoder
  /// The path to the payload in the response body.
  public var payloadPath: PayloadPath
  /// The time limit for one attempt; see ``ServerTask/timeout``.
  public var timeout: Duration
  /// The other time limits. A limit that is `nil` is inherited from the server.
  public var timeouts: Timeouts
  /// The policy for retrying failed attempts.
  public var retryPolicy: RetryPolicy
  /// Whether the request can be sent more than once.
  public var idempotency: Idempotency
  /// The priority among calls that wait for a slot.
  public var priority: CallPriority
  /// The serial queue in which the call runs.
  public var serialQueue: SerialQueue
  /// The policy for sending a slow request again, concurrently with the first.
  public var hedging: Hedging
  /// The policy for redirects.
  public var redirectPolicy: RedirectPolicy
  /// The policy for the IP addresses to connect to.
  public var addressPolicy: AddressPolicy
  /// The authentication for requests.
  public var authentication: Authentication
  /// The policy for sending and storing cookies.
  public var cookiePolicy: CookiePolicy
  /// How the call uses the server's cache.
  public var cachePolicy: CachePolicy
  /// The statuses that count as success.
  public var acceptedStatuses: AcceptedStatuses
  /// The name used in logs, recordings and statistics. If `nil`, the name of the task's type is used.
  public var name: String?
  /// The tag used to cancel calls together. If `nil`, the task's own tag is used.
  public var tag: String?
  /// A note that explains why the task runs, shown in recordings and echoes.
  public var comment: String
  /// The values that steps and observers can read.
  public var context: TaskContext
  /// How the exchange is echoed.
  public var echoStyle: EchoStyle
  /// The parts of the exchange that are recorded.
  public var recordingStyle: RecordingStyle
  /// The parts of the call that are logged. If `nil`, the server's setting is used.
  public var logOptions: LogOptions?
  var omitsBody = false
  /// Whether to keep the destination file if the server has no newer version.
  var keepsCurrentFile = false
  var preloaded: URL?
  /// The minimum size, in bytes, of bodies that are compressed with gzip. If `nil`, the server's setting is used.
  public var gzipUploadThreshold: Int?
  package var progress: (@Sendable (TransferProgress) -> Void)?
  /// The requested byte range. `nil` for the entire body, or if the range is only set as a header field.
  package var range: ByteRange?
  /// A URL supplied by a server. It replaces the task's URL, including its query.
  package var linkedURL: LinkedURL?
  /// The origins that redirects may send `Last-Event-ID` to. `nil` allows any origin.
  var eventOrigins: Set<Origin>?
  /// The type that is decoded from error responses. If `nil`, the server's setting is used.
  var errorPayload: (any (Decodable & Sendable).Type)?
  package var problem: TaskError?
  package var changes: [@Sendable (inout TaskPlan) -> Void] = []
  /// The number of the transfer, or of the handle's work, that the call belongs to.
  package var transfer: Int?
  /// Whether this call repeats part of a transfer. If so, it does not add to the retry budget.
  package var isRepetition = false
  /// Whether the body is an in-memory chunk of an upload. If so, it has the time limits of a file.
  package var isChunk = false
  /// Whether `linkedURL` is cross-origin. If so, credentials are not sent.
  package var isCrossOrigin = false
  /// The `Idempotency-Key` that the call shares with other calls for the same operation.
  package var operation: OperationKey?
  /// The control that can pause the call and receives its events.
  var control: CallControl?
  /// The place in the serial queue, if the call entered it before it started.
  var place: SerialQueues.Place?
  var role = Role.described

  /// Creates a plan for a task without modifiers.
  public init<Described: ServerTask>(_ task: Described) {
    self.task = task
    server = task.server
    httpMethod = task.httpMethod
    do {
      headers = try task.plannedHeaders
    } catch {
      headers = HTTPHeaders()
      problem = error
    }
    encoder = task.plannedEncoder
    decoder = task.plannedDecoder
    payloadPath = task.plannedPayloadPath
    gzipUploadThreshold = task.plannedGZipThreshold
    timeout = task.plannedTimeout
    timeouts = task.timeouts
    retryPolicy = task.retryPolicy
    idempotency = task.idempotency
    priority = task.priority
    serialQueue = task.serialQueue
    hedging = task.hedging
    redirectPolicy = task.redirectPolicy
    addressPolicy = task.addressPolicy
    authentication = task.authentication
    cookiePolicy = task.cookiePolicy
    cachePolicy = task.cachePolicy
    acceptedStatuses = task.acceptedStatuses
    comment = task.comment
    context = task.context
    echoStyle = task.echoStyle
    recordingStyle = task.recordingStyle
    if Described.ErrorPayload.self != Never.self { errorPayload = Described.ErrorPayload.self }
  }

  /// The server's settings for the call: the kept ones, or the current ones.
  package var settings: ServerSnapshot { kept ?? server.snapshot }

  /// Keeps the current settings and tokens, for work that makes several calls. A sign-out in between ends the work, and
  /// no token is sent to a remote that the server has since been set to.
  package mutating func keepSettings() {
    let settings = settings
    keep(settings, authentication.inheriting(settings.authentication).ofCall?.settings ?? .none)
  }

  /// Keeps the settings and the authentication of another call.
  mutating func keep(_ settings: ServerSnapshot, _ authentication: Authentication) {
    (kept, self.authentication) = (settings, authentication)
  }

  /// Removes the task's own authentication from one that was kept. The server's rules remain.
  package mutating func keepServersTokens() { authentication = authentication.serversOnly }

  /// Returns a closure that makes later plans of the same work, with this plan's server, kept settings and tokens.
  package func passingSettings(to makePlan: @escaping @Sendable () -> TaskPlan) -> @Sendable () -> TaskPlan {
    { [self] in
      var plan = makePlan()
      plan.server = server
      plan.keep(settings, authentication)
      return plan
    }
  }

  /// The task's current header fields, including those set by modifiers. ``headers`` contains the fields as they were
  /// when the plan was created.
  var presentHeaders: HTTPHeaders {
    get throws(TaskError) {
      guard !changes.isEmpty else { return try task.plannedHeaders }
      var plan = self
      plan.headers = try task.plannedHeaders
      for change in changes { change(&plan) }
      return plan.headers
    }
  }

  /// Applies a change now, and again whenever the header fields are recomputed.
  package mutating func change(_ change: @escaping @Sendable (inout TaskPlan) -> Void) {
    changes.append(change)
    change(&self)
  }

  /// Replaces the current server, and any server set later.
  package mutating func replaceServers(by standIn: @escaping @Sendable (Server) -> Server) {
    let present = server
    self.standIn = standIn
    server = present
  }

  package func retryPolicy(under configuration: ServerConfiguration) -> RetryPolicy {
    retryPolicy.isInherited ? configuration.retryPolicy : retryPolicy
  }

  /// The reason why a call is made.
  enum Role {
    /// The app runs a task.
    case described
    /// Other calls need a token. `isRetried` tells whether a refused request is retried if it was not processed.
    case token(isRetried: Bool, waiters: Waiters)
    /// Several calls share one request.
    case shared(waiters: Waiters)
    /// A stored response must be validated in the background.
    case validation
  }

  /// Returns the longest time left until a deadline of the calls that wait for this call: `nil` if any of them has no
  /// deadline, zero if no call is waiting.
  typealias Waiters = @Sendable () -> Duration?

  /// Whether this is an internal call, hidden from hooks and statistics.
  var isInternal: Bool {
    switch role {
    case .described, .token: false
    case .shared, .validation: true
    }
  }

  /// The calls that wait for this call. Only their cancellation can end it early.
  var waiters: Waiters? {
    switch role {
    case .token(_, let waiters), .shared(let waiters): waiters
    case .described, .validation: nil
    }
  }

  /// Returns the plan for an internal call, without a serial queue, control or progress.
  func asInternal(_ role: Role) -> TaskPlan {
    var plan = self
    plan.role = role
    plan.serialQueue = .none
    plan.place = nil
    plan.control = nil
    plan.progress = nil
    return plan
  }

  var hasLimits: Bool { timeout != .inherited || timeouts != Timeouts() }

  /// The tag used to cancel calls together.
  public var taskTag: String { tag ?? task.taskTag }

  /// ``name``, or the task's type name without its module.
  public var taskName: String { name ?? TypeName.of(type(of: task)) }
}
