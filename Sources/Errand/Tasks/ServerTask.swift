public import ErrandFoundation

/// A description of one HTTP exchange. Conforming types declare the request and the expected response.
///
///     struct GetWidget: GET<Widget> {
///       let id: Int
///       var path: String { "widgets/\(id)" }
///     }
///     let widget = try await shop.send(GetWidget(id: 7))
///
/// Every requirement has a default, so a task only declares what differs. Each marker protocol (``ServerPOSTTask``,
/// ``EchoingTask`` …) overrides one requirement. Most settings default to `.inherited` or `.automatic`. Inherited
/// settings come from the server's configuration.
public protocol ServerTask: Sendable {
  /// The task that modifiers wrap: `Self`, or the base task of a modified task.
  associatedtype Unmodified: ServerTask = Self
  /// The type of ``path``: `String` or `[String]`. The compiler infers it, as it infers the types below.
  associatedtype TaskPath: Sendable = String
  /// The type of ``query``: ``HTTPQuery``, pairs, or any `Encodable` type with keys.
  associatedtype TaskQuery: Sendable = HTTPQuery
  /// The type of ``headers``: ``HTTPHeaders``, pairs, or any `Encodable` type with keys.
  associatedtype TaskHeaders: Sendable = HTTPHeaders
  /// The type of ``parameters``: any `Encodable` type with keys.
  associatedtype TaskParameters: Sendable = Never?
  /// The type of ``timeout``: `Duration` or `Duration?`.
  associatedtype TaskTimeout: Sendable = Duration
  /// The type of ``encoder``: any ``BodyEncoder``.
  associatedtype TaskEncoder: Sendable = any BodyEncoder
  /// The type of ``decoder``: any ``PayloadDecoder``.
  associatedtype TaskDecoder: Sendable = any PayloadDecoder
  /// The type of ``payloadPath``: ``PayloadPath``, `String` for one key, or `[String]` for several.
  associatedtype TaskPayloadPath: Sendable = PayloadPath
  /// The type of ``gzipUploadThreshold``: `Int` or `Int?`.
  associatedtype TaskGZipThreshold: Sendable = Int?
  /// The type that ``TaskError/payload(as:)`` decodes from the body of an error response. Defaults to the server's
  /// ``ServerConfiguration/errorPayload``.
  associatedtype ErrorPayload: Decodable & Sendable = Never

  // MARK: Destination

  /// The server that receives the request. Defaults to ``Server/default``.
  var server: Server { get }
  /// The path relative to the server's remote, such as `widgets/7`. Defaults to an empty path, which sends the request
  /// to the remote's own URL. A complete URL replaces the remote. Segments (`["widgets", name]`) are percent-encoded,
  /// so a value is always exactly one segment.
  var path: TaskPath { get }
  /// The query items added to the URL. Empty by default. Can be an ``HTTPQuery``, a dictionary, pairs, or any
  /// `Encodable` value with keys.
  var query: TaskQuery { get }
  /// The complete URL. Defaults to the server's remote with ``path`` and ``query``.
  var url: URL { get async throws }

  // MARK: Content

  /// The method. Defaults to `.automatic`: GET without a body, POST with one.
  var httpMethod: HTTPMethod { get }
  /// The header fields, which override those of the server. Empty by default.
  /// Can be an ``HTTPHeaders``, a dictionary, pairs, or any `Encodable` value with keys.
  var headers: TaskHeaders { get }
  /// Names and values sent in the body or the query, depending on the method. None by default. POST, PUT, PATCH, QUERY
  /// and unknown methods send the parameters in the body, encoded like a payload. With any other method, or if the task
  /// has its own body, the parameters are added to the query.
  var parameters: TaskParameters { get }
  /// Returns the request's body. Called for every attempt. The default returns an empty body.
  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody
  /// The encoder for payloads. Defaults to the server's ``ServerConfiguration/defaultEncoder``.
  var encoder: TaskEncoder { get }
  /// The decoder for payloads. Defaults to the server's ``ServerConfiguration/defaultDecoder``.
  var decoder: TaskDecoder { get }
  /// The path to the payload in the response body: a key, several keys as `[String]`, or a ``PayloadPath``. Defaults to
  /// the server's ``ServerConfiguration/payloadPath``.
  var payloadPath: TaskPayloadPath { get }
  /// The minimum size, in bytes, of bodies that are compressed with gzip. 0 compresses every body, and `.max`
  /// compresses none. Defaults to the server's ``ServerConfiguration/gzipUploadThreshold``, which is also used for
  /// `nil`.
  var gzipUploadThreshold: TaskGZipThreshold { get }

  // MARK: Timeouts and policies

  /// The time limit for one attempt. Defaults to the server's ``ServerConfiguration/defaultTimeout``, which is also
  /// used for `nil`. If a body is read from or written to a file or a stream, the limit applies to the time until the
  /// response head arrives, and to any time in which that body is idle.
  var timeout: TaskTimeout { get }
  /// The time limits for the other phases of the call. A limit that is `nil` is inherited from the server.
  var timeouts: Timeouts { get }
  /// The policy for retrying failed attempts. Defaults to the server's ``ServerConfiguration/retryPolicy``.
  var retryPolicy: RetryPolicy { get }
  /// Whether the request can be sent more than once. Defaults to `.automatic`, which depends on the method.
  var idempotency: Idempotency { get }
  /// The priority among calls that wait for a slot. Defaults to `.normal`.
  var priority: CallPriority { get }
  /// The serial queue in which the task runs. Defaults to `.none`.
  var serialQueue: SerialQueue { get }
  /// The policy for sending a slow request again, concurrently with the first. Defaults to the server's
  /// ``ServerConfiguration/hedging``.
  var hedging: Hedging { get }
  /// The policy for redirects. Defaults to the server's ``ServerConfiguration/redirectPolicy``.
  var redirectPolicy: RedirectPolicy { get }
  /// The policy for the IP addresses to connect to. Defaults to the server's ``ServerConfiguration/addressPolicy``.
  var addressPolicy: AddressPolicy { get }
  /// The authentication for requests. Defaults to the server's ``ServerConfiguration/authentication``.
  var authentication: Authentication { get }
  /// The policy for sending and storing cookies. Defaults to the server's ``ServerConfiguration/cookiePolicy``.
  var cookiePolicy: CookiePolicy { get }
  /// How the task uses the server's cache. Defaults to the server's ``ServerConfiguration/cachePolicy``.
  var cachePolicy: CachePolicy { get }
  /// The statuses that count as success. Defaults to 2xx and 304.
  var acceptedStatuses: AcceptedStatuses { get }

  // MARK: Logging and recording

  /// The tag used to cancel calls together. Never sent. Defaults to the type's name.
  var taskTag: String { get }
  /// A note that explains why the task runs, shown in recordings and echoes. Never sent. Empty by default.
  var comment: String { get }
  /// The values that steps and observers can read. Never sent. Empty by default.
  var context: TaskContext { get }
  /// How the exchange is echoed. Defaults to `.inherited`, which uses the server's setting.
  var echoStyle: EchoStyle { get }
  /// The parts of the exchange that are recorded. Defaults to `.full`, which records everything with secrets redacted.
  var recordingStyle: RecordingStyle { get }

  // MARK: Hooks

  // A modified task calls the hooks of its base task. If a call is cancelled or its deadline expires during a hook, the
  // hook's Swift task is cancelled, and the call ends when the hook returns. `didFail` and `didComplete` run in a
  // cancelled Swift task if the call was cancelled, but not if its deadline expired.

  /// Called once per call before the request is built, even if the call has already been cancelled. The call's deadline
  /// is already running. If the task has a serial queue, the call already holds it. If the call ends while it waits for
  /// the queue, this hook is not called.
  func willStart() async
  /// Called before the first attempt, when the request has been built and both preflights have run. Called at most once
  /// per call, and not at all if the call ends earlier.
  func didStart(_ request: HTTPRequest) async
  /// Called before each retry, with the results of the earlier attempts. The call waits for `delay` after this hook.
  /// Not called for hedges.
  func willRetry(after delay: Duration, attempts: [AttemptRecord]) async
  /// Called last if the call failed, with a `CancellationError` if the call was cancelled. Called once per call,
  /// instead of ``didComplete(with:)``.
  func didFail(with error: any Error) async
  /// Called last if the call succeeded and can no longer fail. For a stream, this is when its body has ended or been
  /// released. Called once per call, instead of ``didFail(with:)``.
  func didComplete(with response: HTTPResponse) async
  /// Called for every attempt, before the server's preflight. Can change the request, or throw to fail the call.
  func preflight(_ request: inout HTTPRequest) async throws
  /// Verifies the head of a response with an accepted status, before the server's ``ServerConfiguration/verify``. If
  /// this throws, the call fails, and nothing but its cookies is stored. Must not read the body.
  func verify(_ response: HTTPResponse) throws
  /// Called when the status has been accepted and the body has been received. An error thrown here fails the call. Read
  /// the body with ``HTTPResponse/decoded(_:decoder:upTo:)``.
  func postProcess(response: HTTPResponse) async throws
  /// Called with the final response, before the call ends. An error thrown here fails the call; otherwise
  /// ``didComplete(with:)`` is called next. Not called for streams.
  func postflight(response: HTTPResponse) async throws

  // MARK: Implemented by Errand

  /// ``path`` as a string. Do not implement it.
  var plannedPath: String { get throws(TaskError) }
  /// ``query`` as an ``HTTPQuery``. Do not implement it.
  var plannedQuery: HTTPQuery { get throws(TaskError) }
  /// ``headers`` as ``HTTPHeaders``. Do not implement it.
  var plannedHeaders: HTTPHeaders { get throws(TaskError) }
  /// ``parameters`` as an optional existential. Do not implement it.
  var plannedParameters: (any Encodable & Sendable)? { get }
  /// ``timeout`` as a duration. Do not implement it.
  var plannedTimeout: Duration { get }
  /// ``encoder`` as an existential. Do not implement it.
  var plannedEncoder: any BodyEncoder { get }
  /// ``decoder`` as an existential. Do not implement it.
  var plannedDecoder: any PayloadDecoder { get }
  /// ``payloadPath`` as a ``PayloadPath``. Do not implement it.
  var plannedPayloadPath: PayloadPath { get }
  /// ``gzipUploadThreshold`` as an optional, `nil` if inherited from the server. Do not implement it.
  var plannedGZipThreshold: Int? { get }
  /// The task as declared, without modifiers. Do not implement it.
  var unmodified: Unmodified { get }
  /// All settings of the task as one value, read once per call. Do not implement it.
  var plan: TaskPlan { get }
  /// Returns the task with a change to its plan. Do not implement it.
  func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Unmodified>
}

extension ServerTask {
  /// Defaults to ``Server/default``.
  public var server: Server { .default }
  /// The server's remote with ``path`` and ``query``. Throws ``TaskError`` if the server has no remote, the resulting
  /// URL is invalid, or the path or query can't be encoded.
  public var url: URL {
    get async throws { try ServerSnapshot.url(below: server, path: plannedPath, query: plannedQuery) }
  }
  /// Defaults to `.automatic`.
  public var httpMethod: HTTPMethod { .automatic }
  /// Returns an empty body.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .empty
  }
  /// Inherits all limits by default.
  public var timeouts: Timeouts { Timeouts() }
  /// Defaults to `.inherited`.
  public var retryPolicy: RetryPolicy { .inherited }
  /// Defaults to `.automatic`.
  public var idempotency: Idempotency { .automatic }
  /// Defaults to `.normal`.
  public var priority: CallPriority { .normal }
  /// Defaults to `.none`.
  public var serialQueue: SerialQueue { .none }
  /// Defaults to `.inherited`.
  public var hedging: Hedging { .inherited }
  /// Defaults to `.inherited`.
  public var redirectPolicy: RedirectPolicy { .inherited }
  /// Defaults to `.inherited`.
  public var addressPolicy: AddressPolicy { .inherited }
  /// Defaults to `.inherited`.
  public var authentication: Authentication { .inherited }
  /// Defaults to `.inherited`.
  public var cookiePolicy: CookiePolicy { .inherited }
  /// Defaults to `.inherited`.
  public var cachePolicy: CachePolicy { .inherited }
  /// Defaults to `.inherited`.
  public var acceptedStatuses: AcceptedStatuses { .inherited }
  /// Defaults to the name of the type.
  public var taskTag: String { "\(Self.self)" }
  /// Empty by default.
  public var comment: String { "" }
  /// Empty by default.
  public var context: TaskContext { TaskContext() }
  /// Defaults to `.inherited`.
  public var echoStyle: EchoStyle { .inherited }
  /// Defaults to `.full`.
  public var recordingStyle: RecordingStyle { .full }
  /// Does nothing by default.
  public func willStart() async {}
  /// Does nothing by default.
  public func didStart(_ request: HTTPRequest) async {}
  /// Does nothing by default.
  public func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {}
  /// Does nothing by default.
  public func didFail(with error: any Error) async {}
  /// Does nothing by default.
  public func didComplete(with response: HTTPResponse) async {}
  /// Changes nothing by default.
  public func preflight(_ request: inout HTTPRequest) async throws {}
  /// Accepts every response by default.
  public func verify(_ response: HTTPResponse) throws {}
  /// Accepts every response by default.
  public func postProcess(response: HTTPResponse) async throws {}
  /// Does nothing by default.
  public func postflight(response: HTTPResponse) async throws {}
  /// All settings of the task as one value.
  public var plan: TaskPlan { TaskPlan(self) }
}

extension ServerTask where Unmodified == Self {
  /// The task itself.
  public var unmodified: Self { self }

  /// Returns the task with a change to its plan.
  public func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Self> {
    Modified(base: self, changes: [change])
  }
}

/// A placeholder for the server's encoder or decoder.
struct InheritedCoding: BodyEncoder, PayloadDecoder {
  private struct NotResolved: Error {}

  var mediaType: MediaType { .octetStream }
  func encode<Value: Encodable>(_ value: Value) throws -> Data { throw NotResolved() }
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload { throw NotResolved() }
}

// Compare types instead of casting: a cast is ten times slower, and this runs on every call.

extension BodyEncoder {
  var isInherited: Bool { Self.self == InheritedCoding.self }
}

extension PayloadDecoder {
  var isInherited: Bool { Self.self == InheritedCoding.self }
}

extension Duration {
  /// A placeholder that stands for the server's value.
  public static let inherited = Duration(secondsComponent: .min, attosecondsComponent: 0)
}
