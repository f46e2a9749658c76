import ErrandFoundation

/// All aspects of a task as one value, read once when a call begins.
///
/// A modifier changes this value and leaves the task alone: hooks, names, statistics and recordings still see the task
/// as it was declared.
public struct TaskPlan: Sendable {
  /// The task as it was declared.
  public internal(set) var task: any ServerTask
  /// The server to talk to.
  public var server: Server { didSet { if let standIn { server = standIn(server) } } }
  /// Makes the server that stands in for any other, as one that plays a recording; nil for most.
  private var standIn: (@Sendable (Server) -> Server)?
  /// The method, or `.automatic`.
  public var httpMethod: HTTPMethod
  /// Header fields that override those of the server.
  public var headers: HTTPHeaders
  /// The items that are added to the query of the task's URL.
  public var addedQuery = HTTPQuery()
  /// Encodes payloads.
  public var encoder: any BodyEncoder
  /// Decodes payloads.
  public var decoder: any PayloadDecoder
  /// The place of the payload in a body that wraps it.
  public var payloadPath: PayloadPath
  /// The time limit for one attempt, or with a body to or from a file or a stream, for the head and the idle time.
  public var timeout: Duration
  /// Limits; where one is nil, the server's counts.
  public var timeouts: Timeouts
  /// The policy for failed attempts.
  public var retryPolicy: RetryPolicy
  /// The permission to send the request twice.
  public var idempotency: Idempotency
  /// The priority among calls that wait for a slot.
  public var priority: CallPriority
  /// The serial queue in which the call takes its turn.
  public var serialQueue: SerialQueue
  /// The rule for sending a slow request again, beside the first.
  public var hedging: Hedging
  /// The rule for responses that point elsewhere.
  public var redirectPolicy: RedirectPolicy
  /// The rule for addresses that connections are made to.
  public var addressPolicy: AddressPolicy
  /// The way in which requests are signed in.
  public var authentication: Authentication
  /// The cookies that requests send, and the place for those that responses set.
  public var cookiePolicy: CookiePolicy
  /// The use of the server's cache.
  public var cachePolicy: CachePolicy
  /// The statuses that are success.
  public var acceptedStatuses: AcceptedStatuses
  /// The name of the calls in logs, recordings and statistics; nil is that of the task's type.
  public var name: String?
  /// The name by which calls are cancelled together; nil is the task's own.
  public var tag: String?
  /// A word on why the task is run, for recordings and echoes.
  public var comment: String
  /// The values that travel with the task for steps and observers.
  public var context: TaskContext
  /// The echo of the exchange.
  public var echoStyle: EchoStyle
  /// The parts of the exchange that a recording shows.
  public var recordingStyle: RecordingStyle
  /// The parts of the call that its line on the log says; nil where the server's count.
  public var logOptions: LogOptions?
  /// True when the request goes without the task's body: only the head of the answer is wanted.
  var omitsBody = false
  /// True when the file that is downloaded to stays where the remote has no other version.
  var keepsCurrentFile = false
  /// The file with the response that is used where the cache has none.
  var preloaded: URL?
  /// The size in bytes from which the body is sent packed; nil where the server's counts.
  public var gzipUploadThreshold: Int?
  /// Gets the progress of the bodies in both directions; nil where the task states none.
  var progress: (@Sendable (TransferProgress) -> Void)?
  /// The requested part of the body; nil for the whole, and where only a header field states a range.
  var range: ByteRange?
  /// The URL that a server supplied and that replaces the task's, its query included; `nil` for the task's own URL.
  var linkedURL: LinkedURL?
  /// The origins that a redirect may take `Last-Event-ID` to; nil for any.
  var eventOrigins: Set<Origin>?
  /// The payload of refused responses; nil where the server's counts.
  var errorPayload: (any (Decodable & Sendable).Type)?
  /// The mistake that fails the call; nil where there is none.
  var problem: TaskError?
  /// The changes that modifiers made.
  var changes: [@Sendable (inout TaskPlan) -> Void] = []
  /// The number of the transfer, or of the handle's work, that the call is of.
  var transfer: Int?
  /// True for another attempt of a transfer, which is a call of its own: it earns nothing for the retry budget.
  var isRepetition = false
  /// True for a piece in memory of something larger: it has the time limits of what comes from a file.
  var isPiece = false
  /// Whether `linkedURL` is at an origin that the task does not name, which gets no credentials.
  var isAway = false
  /// The control that holds the call from outside.
  var control: CallControl?
  /// True for a call that another call makes for itself: the hooks that tell of progress are not told of it.
  var isUnseen = false

  /// The plan of a task without modifiers.
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

  /// The header fields as the task and its modifiers state them now; ``headers`` has them as they were when planned.
  var presentHeaders: HTTPHeaders {
    get throws(TaskError) {
      guard !changes.isEmpty else { return try task.plannedHeaders }
      var plan = self
      plan.headers = try task.plannedHeaders
      for change in changes { change(&plan) }
      return plan.headers
    }
  }

  /// Makes one more change, which also holds for the fields that are computed anew.
  mutating func change(_ change: @escaping @Sendable (inout TaskPlan) -> Void) {
    changes.append(change)
    change(&self)
  }

  /// Replaces this server, and any that is set later.
  mutating func replaceServers(by standIn: @escaping @Sendable (Server) -> Server) {
    let present = server
    self.standIn = standIn
    server = present
  }

  /// The policy for failed attempts: the task's, or the one of its server.
  func retryPolicy(under configuration: ServerConfiguration) -> RetryPolicy {
    retryPolicy.isInherited ? configuration.retryPolicy : retryPolicy
  }

  /// The plan of a call that this plan's call makes for itself, without a serial queue, a handle and progress.
  var unseen: TaskPlan {
    var plan = self
    plan.isUnseen = true
    plan.serialQueue = .none
    plan.control = nil
    plan.progress = nil
    return plan
  }

  /// True when the task states time limits of its own.
  var hasLimits: Bool { timeout != .inherited || timeouts != Timeouts() }

  /// The name by which calls are cancelled together.
  public var taskTag: String { tag ?? task.taskTag }

  /// ``name``, or that of the task's type without its module.
  public var taskName: String { name ?? TypeName.of(type(of: task)) }
}
