public import ErrandFoundation

/// One exchange with a remote, described: your struct conforms and says what is exchanged.
///
///     struct GetWidget: ServerGETTask, PayloadDownloadingTask {
///       typealias DownloadPayload = Widget
///       let id: Int
///       var path: String { "widgets/\(id)" }
///     }
///     let widget = try await GetWidget(id: 7).download()
///
/// Every aspect is one requirement with a default, so a task states only what is special about it. Each marker
/// protocol (``ServerPOSTTask``, ``EchoingTask`` …) overrides exactly one of them. "Not said" is a value of its own,
/// `.inherited` or `.automatic`; what is not said comes from the server's configuration.
public protocol ServerTask: Sendable {
  /// The task that modifiers wrap: the task itself, or for a modified task the one it was made of.
  associatedtype Unmodified: ServerTask = Self
  /// The type of ``path``: text or segments. Found by the compiler, as those of the other aspects that have several spellings.
  associatedtype TaskPath: Sendable = String
  /// The type of ``query``: ``HTTPQuery``, pairs, or anything `Encodable` with keys.
  associatedtype TaskQuery: Sendable = HTTPQuery
  /// The type of ``headers``: ``HTTPHeaders``, pairs, or anything `Encodable` with keys.
  associatedtype TaskHeaders: Sendable = HTTPHeaders
  /// The type of ``parameters``: anything `Encodable` with keys.
  associatedtype TaskParameters: Sendable = Never?
  /// The type of ``timeout``: a duration or an optional one.
  associatedtype TaskTimeout: Sendable = Duration
  /// The type of ``encoder``: any ``BodyEncoder``.
  associatedtype TaskEncoder: Sendable = any BodyEncoder
  /// The type of ``decoder``: any ``PayloadDecoder``.
  associatedtype TaskDecoder: Sendable = any PayloadDecoder
  /// The type of ``payloadPath``: ``PayloadPath``, a key or keys.
  associatedtype TaskPayloadPath: Sendable = PayloadPath
  /// The type of ``gzipUploadThreshold``: a number of bytes or an optional one.
  associatedtype TaskGZipThreshold: Sendable = Int?
  /// The payload of refused responses, which ``TaskError/payload(as:)`` gives; the server's
  /// ``ServerConfiguration/errorPayload`` unless stated.
  associatedtype ErrorPayload: Decodable & Sendable = Never

  // MARK: Where

  /// The server to talk to; ``Server/default`` unless stated.
  var server: Server { get }
  /// The path below the server's remote, `widgets/7`; a whole URL is taken as it is. Empty unless stated. Segments,
  /// `["widgets", name]`, are escaped, so that a value is never more than one of them.
  var path: TaskPath { get }
  /// The items that are added to the URL's query: ``HTTPQuery``, a dictionary, pairs, or anything `Encodable` with keys. Empty
  /// unless stated.
  var query: TaskQuery { get }
  /// The whole URL; the server's remote with ``path`` and ``query`` unless stated.
  var url: URL { get async throws }

  // MARK: What

  /// The method; `.automatic` unless stated: GET without a body, POST with one.
  var httpMethod: HTTPMethod { get }
  /// Header fields that override those of the server: ``HTTPHeaders``, a dictionary, pairs, or anything `Encodable` with keys.
  /// Empty unless stated.
  var headers: TaskHeaders { get }
  /// Names and values that go into the query or the body, by the method: into the body for POST, PUT, PATCH, QUERY and methods
  /// that are not known, encoded as payloads are, unless the task has a body of its own; else into the query. None unless stated.
  var parameters: TaskParameters { get }
  /// The body of the request, made anew for every attempt. Empty unless stated.
  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody
  /// Encodes payloads; the server's ``ServerConfiguration/defaultEncoder`` unless stated.
  var encoder: TaskEncoder { get }
  /// Decodes payloads; the server's ``ServerConfiguration/defaultDecoder`` unless stated.
  var decoder: TaskDecoder { get }
  /// The place of the payload in a body that wraps it: a key, keys as `[String]`, or a ``PayloadPath``; the server's
  /// ``ServerConfiguration/payloadPath`` unless stated.
  var payloadPath: TaskPayloadPath { get }
  /// The size in bytes from which the body is sent packed by gzip: 0 packs every one, `.max` none; the server's
  /// ``ServerConfiguration/gzipUploadThreshold`` unless stated, and where it is nil.
  var gzipUploadThreshold: TaskGZipThreshold { get }

  // MARK: How

  /// The time limit for one attempt; with a body to or from a file or a stream, for the head of the response and for
  /// the idle time of that body. The server's ``ServerConfiguration/defaultTimeout`` unless stated, and where it is nil.
  var timeout: TaskTimeout { get }
  /// Limits for the other parts of the call; where one is nil, the server's counts.
  var timeouts: Timeouts { get }
  /// The policy for failed attempts; the server's ``ServerConfiguration/retryPolicy`` unless stated.
  var retryPolicy: RetryPolicy { get }
  /// The permission to send the request twice; judged by the method unless stated.
  var idempotency: Idempotency { get }
  /// The priority among calls that wait for a slot; `.normal` unless stated.
  var priority: CallPriority { get }
  /// The serial queue in which the task takes its turn; none unless stated.
  var serialQueue: SerialQueue { get }
  /// The rule for sending a slow request again, beside the first; the server's ``ServerConfiguration/hedging`` unless
  /// stated.
  var hedging: Hedging { get }
  /// The rule for responses that point elsewhere; the server's ``ServerConfiguration/redirectPolicy`` unless stated.
  var redirectPolicy: RedirectPolicy { get }
  /// The rule for addresses that connections are made to; the server's ``ServerConfiguration/addressPolicy`` unless stated.
  var addressPolicy: AddressPolicy { get }
  /// The way in which requests are signed in; the server's ``ServerConfiguration/authentication`` unless stated.
  var authentication: Authentication { get }
  /// The cookies that are sent, and the place for those that are set; the server's ``ServerConfiguration/cookiePolicy`` unless
  /// stated.
  var cookiePolicy: CookiePolicy { get }
  /// The use of the server's cache; the server's ``ServerConfiguration/cachePolicy`` unless stated.
  var cachePolicy: CachePolicy { get }
  /// The statuses that are success; 2xx and 304 unless stated.
  var acceptedStatuses: AcceptedStatuses { get }

  // MARK: Logging and recording

  /// The name by which calls are cancelled together; the type's name unless stated. It is never sent.
  var taskTag: String { get }
  /// A word on why the task is run, for recordings and echoes; never sent. Empty unless stated.
  var comment: String { get }
  /// The values that travel with the task for steps and observers; never sent. Empty unless stated.
  var context: TaskContext { get }
  /// The echo of the exchange; as the server says unless stated.
  var echoStyle: EchoStyle { get }
  /// The parts of the exchange that a recording shows; everything, redacted, unless stated.
  var recordingStyle: RecordingStyle { get }

  // MARK: Hooks

  // A modified task calls those of the task that it was made of. Where a call is cancelled or its deadline passes, the
  // Swift task of the hook that it waits for is cancelled; the call ends once the hook returns. The last two
  // run in a task that is cancelled where the call was cancelled from outside, and are left alone where its deadline has passed.

  /// Called first, before a request is built. Once per call, also one that was cancelled before; the deadline of the
  /// call runs already.
  func willStart() async
  /// Called when the request is built and both preflights have seen it, before the first attempt. Once per call, but
  /// never for one that ends before that.
  func didStart(_ request: HTTPRequest) async
  /// Called before every attempt but the first, with the results of those before it. Once per retry, and the wait of
  /// `delay` follows; once per hedge, which follows at once.
  func willRetry(after delay: Duration, attempts: [AttemptRecord]) async
  /// Called last, when the call has failed: with `CancellationError` where it was cancelled. Once per call, unless
  /// ``didComplete(with:)`` is.
  func didFail(with error: any Error) async
  /// Called last, when the call has succeeded and nothing can fail it any more; for a stream, when its body has ended
  /// or was released. Once per call, unless ``didFail(with:)`` is.
  func didComplete(with response: HTTPResponse) async
  /// Sees the request before the server's preflight does, for every attempt; may change it or throw.
  func preflight(_ request: inout HTTPRequest) async throws
  /// Sees the head of a response whose status was accepted, before the server's ``ServerConfiguration/verify`` does;
  /// what it throws fails the call before anything but its cookies is stored. The body is not to be read here.
  func verify(_ response: HTTPResponse) throws
  /// Sees the response once its status was accepted and its body is there; what it throws fails the call.
  func postProcess(response: HTTPResponse) async throws
  /// Sees the response of a result, before the call ends: what it throws fails the call, and ``didComplete(with:)``
  /// follows where nothing does. Not for a stream, whose caller sees the end itself.
  func postflight(response: HTTPResponse) async throws

  // MARK: Not to be implemented

  /// ``path`` as text. Not to be implemented.
  var plannedPath: String { get throws(TaskError) }
  /// ``query`` as items. Not to be implemented.
  var plannedQuery: HTTPQuery { get throws(TaskError) }
  /// ``headers`` as fields. Not to be implemented.
  var plannedHeaders: HTTPHeaders { get throws(TaskError) }
  /// ``parameters`` as a value of any type. Not to be implemented.
  var plannedParameters: (any Encodable & Sendable)? { get }
  /// ``timeout`` as a duration. Not to be implemented.
  var plannedTimeout: Duration { get }
  /// ``encoder`` as one of any type. Not to be implemented.
  var plannedEncoder: any BodyEncoder { get }
  /// ``decoder`` as one of any type. Not to be implemented.
  var plannedDecoder: any PayloadDecoder { get }
  /// ``payloadPath`` as one of its own type. Not to be implemented.
  var plannedPayloadPath: PayloadPath { get }
  /// ``gzipUploadThreshold`` as a number, nil where the server's counts. Not to be implemented.
  var plannedGZipThreshold: Int? { get }
  /// The task as it was declared, without its modifiers. Not to be implemented.
  var unmodified: Unmodified { get }
  /// All aspects as one value, which is read once a call. Not to be implemented.
  var plan: TaskPlan { get }
  /// The task with a change of its plan. Not to be implemented.
  func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Unmodified>
}

extension ServerTask {
  /// ``Server/default``.
  public var server: Server { .default }
  /// The server's remote with ``path`` and ``query``.
  /// Throws ``TaskError`` when there is no remote or the result is no URL, and what encoding the query throws.
  public var url: URL {
    get async throws { try ServerSnapshot.url(below: server, path: plannedPath, query: plannedQuery) }
  }
  /// `.automatic`.
  public var httpMethod: HTTPMethod { .automatic }
  /// Empty.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .empty
  }
  /// None.
  public var timeouts: Timeouts { Timeouts() }
  /// `.inherited`.
  public var retryPolicy: RetryPolicy { .inherited }
  /// `.automatic`.
  public var idempotency: Idempotency { .automatic }
  /// `.normal`.
  public var priority: CallPriority { .normal }
  /// `.none`.
  public var serialQueue: SerialQueue { .none }
  /// `.inherited`.
  public var hedging: Hedging { .inherited }
  /// `.inherited`.
  public var redirectPolicy: RedirectPolicy { .inherited }
  /// `.inherited`.
  public var addressPolicy: AddressPolicy { .inherited }
  /// `.inherited`.
  public var authentication: Authentication { .inherited }
  /// `.inherited`.
  public var cookiePolicy: CookiePolicy { .inherited }
  /// `.inherited`.
  public var cachePolicy: CachePolicy { .inherited }
  /// `.inherited`.
  public var acceptedStatuses: AcceptedStatuses { .inherited }
  /// The name of the type.
  public var taskTag: String { "\(Self.self)" }
  /// Empty.
  public var comment: String { "" }
  /// Empty.
  public var context: TaskContext { TaskContext() }
  /// `.inherited`.
  public var echoStyle: EchoStyle { .inherited }
  /// `.full`.
  public var recordingStyle: RecordingStyle { .full }
  /// Does nothing.
  public func willStart() async {}
  /// Does nothing.
  public func didStart(_ request: HTTPRequest) async {}
  /// Does nothing.
  public func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {}
  /// Does nothing.
  public func didFail(with error: any Error) async {}
  /// Does nothing.
  public func didComplete(with response: HTTPResponse) async {}
  /// Changes nothing.
  public func preflight(_ request: inout HTTPRequest) async throws {}
  /// Accepts everything.
  public func verify(_ response: HTTPResponse) throws {}
  /// Accepts everything.
  public func postProcess(response: HTTPResponse) async throws {}
  /// Does nothing.
  public func postflight(response: HTTPResponse) async throws {}
  /// All aspects as one value.
  public var plan: TaskPlan { TaskPlan(self) }
}

extension ServerTask where Unmodified == Self {
  /// The task itself.
  public var unmodified: Self { self }

  /// The task with a change of its plan.
  public func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Self> {
    Modified(base: self, changes: [change])
  }
}

/// Stands for the server's encoder or decoder where a task names none.
struct InheritedCoding: BodyEncoder, PayloadDecoder {
  private struct NotResolved: Error {}

  var mediaType: MediaType { .octetStream }
  func encode<Value: Encodable>(_ value: Value) throws -> Data { throw NotResolved() }
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload { throw NotResolved() }
}

// Types are compared, for a cast takes ten times longer, and every call asks.

extension BodyEncoder {
  /// True where it stands for the server's encoder.
  var isInherited: Bool { Self.self == InheritedCoding.self }
}

extension PayloadDecoder {
  /// True where it stands for the server's decoder.
  var isInherited: Bool { Self.self == InheritedCoding.self }
}

extension Duration {
  /// Not a duration but its absence: what the server says counts.
  public static let inherited = Duration(secondsComponent: .min, attosecondsComponent: 0)
}
