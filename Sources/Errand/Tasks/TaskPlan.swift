/// All aspects of a task as one value, read once when a call begins.
///
/// A modifier changes this value and leaves the task alone: hooks, names, statistics and recordings still see the task
/// as it was declared.
public struct TaskPlan: Sendable {
  /// The task as it was declared.
  public let task: any ServerTask
  /// The server to talk to.
  public var server: Server
  /// The method, or `.automatic`.
  public var httpMethod: HTTPMethod
  /// Header fields that go before those of the server.
  public var headers: HTTPHeaders
  /// What is added to the query of the task's URL.
  public var addedQuery = HTTPQuery()
  /// Encodes payloads.
  public var encoder: any BodyEncoder
  /// Decodes payloads.
  public var decoder: any PayloadDecoder
  /// How long one attempt may take, or where a body goes to or comes from a file or a stream, the head and every stand-still.
  public var timeout: Duration
  /// Limits; where one is nil, the server's counts.
  public var timeouts: Timeouts
  /// What is done about failures.
  public var retryPolicy: RetryPolicy
  /// Whether the request may be sent twice.
  public var idempotency: Idempotency
  /// Who goes first when calls wait for a slot.
  public var priority: CallPriority
  /// The serial queue in which the call takes its turn.
  public var serialQueue: SerialQueue
  /// Whether a slow answer is asked for again, beside the first.
  public var hedging: Hedging
  /// Which statuses are success.
  public var acceptedStatuses: AcceptedStatuses
  /// The name by which calls are cancelled together; nil is the task's own.
  public var tag: String?
  /// A word on why the task is run, for recordings and echoes.
  public var comment: String
  /// What travels with the task for steps and observers.
  public var context: TaskContext
  /// Whether the exchange is echoed.
  public var echoStyle: EchoStyle
  /// What a recording shows of the exchange.
  public var recordingStyle: RecordingStyle
  /// Whether the request goes without the task's body: only the head of the answer is asked for.
  var omitsBody = false
  /// The changes that modifiers made.
  var changes: [@Sendable (inout TaskPlan) -> Void] = []
  /// Whoever holds the call from outside.
  var control: CallControl?

  /// The plan of a task without modifiers.
  public init<Described: ServerTask>(_ task: Described) {
    self.task = task
    server = task.server
    httpMethod = task.httpMethod
    headers = task.headers
    encoder = task.encoder
    decoder = task.decoder
    timeout = task.timeout
    timeouts = task.timeouts
    retryPolicy = task.retryPolicy
    idempotency = task.idempotency
    priority = task.priority
    serialQueue = task.serialQueue
    hedging = task.hedging
    acceptedStatuses = task.acceptedStatuses
    comment = task.comment
    context = task.context
    echoStyle = task.echoStyle
    recordingStyle = task.recordingStyle
  }

  /// The header fields as the task and its modifiers say them now; ``headers`` has them as they were when it was planned.
  var presentHeaders: HTTPHeaders {
    guard !changes.isEmpty else { return task.headers }
    var plan = self
    plan.headers = task.headers
    for change in changes { change(&plan) }
    return plan.headers
  }

  /// Whether the task says something of its time limits.
  var hasLimits: Bool { timeout != .inherited || timeouts != Timeouts() }

  /// The name by which calls are cancelled together.
  public var taskTag: String { tag ?? task.taskTag }

  /// The name of the task's type, without its module.
  public var taskName: String { "\(type(of: task))" }
}

extension TaskPlan {
  /// The name under which the call is recorded: the method and the type's name without it and without `Task`.
  func recordingName(method: HTTPMethod) -> String {
    var name = taskName.filter { $0.isLetter || $0.isNumber }
    if name.lowercased().hasPrefix(method.rawValue.lowercased()), name.count > method.rawValue.count {
      name.removeFirst(method.rawValue.count)
    }
    if name.hasSuffix("Task"), name.count > 4 { name.removeLast(4) }
    return "\(method) \(name)"
  }
}
