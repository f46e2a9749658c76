public import ErrandFoundation

/// A task as a value instead of a type of its own, with what goes up and what comes down.
///
///     extension Endpoint<Void, Widget> {
///       static func widget(_ id: Int) -> Self { .get("widgets/\(id)") }
///     }
///     let widget = try await Endpoint<Void, Widget>.widget(7).download()
public struct Endpoint<Upload: Sendable, Download: Sendable>: ServerTask {
  /// The settings that the endpoints of one provider share.
  public typealias Defaults = EndpointDefaults

  /// The path below the server's remote.
  public let path: String
  /// The method.
  public let httpMethod: HTTPMethod
  /// The items that are added to the URL's query.
  public let query: HTTPQuery
  private let defaults: Defaults
  private let body: @Sendable (any BodyEncoder) async throws -> HTTPBody

  private init(
    _ method: HTTPMethod, _ path: String, _ query: HTTPQuery, _ defaults: Defaults,
    body: @escaping @Sendable (any BodyEncoder) async throws -> HTTPBody
  ) {
    httpMethod = method
    self.path = path
    self.query = query
    self.defaults = defaults
    self.body = body
  }

  /// The server of the defaults.
  public var server: Server { defaults.server ?? .default }
  /// The header fields of the defaults.
  public var headers: HTTPHeaders { defaults.headers }
  /// The time limit of the defaults.
  public var timeout: Duration { defaults.timeout }
  /// The retry policy of the defaults.
  public var retryPolicy: RetryPolicy { defaults.retryPolicy }
  /// The place of payloads of the defaults.
  public var payloadPath: PayloadPath { defaults.payloadPath }
  /// The payload, encoded.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    try await body(encoder)
  }
}

extension Endpoint: CustomStringConvertible {
  /// Method, path and query, secrets hidden.
  public var description: String {
    let address = query.isEmpty ? path : "\(path)?\(query.encoded)"
    return "Endpoint(\(httpMethod) \(Redaction.standard(address: address)))"
  }
}

extension Endpoint: PayloadDownloadingTask where Download: Decodable {
  /// The payload that comes down.
  public typealias DownloadPayload = Download
}

extension Endpoint: UploadingTask where Upload: Encodable {}

extension Endpoint where Upload == Void {
  /// An endpoint of any method without a body.
  public static func request(
    _ method: HTTPMethod, _ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in .empty }
  }

  /// A GET endpoint.
  public static func get(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.get, path, query: query, defaults: defaults)
  }

  /// A DELETE endpoint.
  public static func delete(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.delete, path, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload: Encodable {
  /// An endpoint of any method with a payload.
  public static func request(
    _ method: HTTPMethod, _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { try await PayloadCoding.encode(payload, with: $0) }
  }

  /// A POST endpoint.
  public static func post(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, payload, query: query, defaults: defaults)
  }

  /// A PUT endpoint.
  public static func put(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, payload, query: query, defaults: defaults)
  }

  /// A PATCH endpoint.
  public static func patch(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, payload, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == HTTPBody {
  /// An endpoint of any method with any body: bytes, a text, a form, a file, a stream.
  ///
  ///     try await Endpoint<HTTPBody, Void>.put("notes/7", body: .file(notes)).upload()
  public static func request(
    _ method: HTTPMethod, _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in body }
  }

  /// An endpoint of any method with a form with files, which are opened for every attempt.
  public static func request(
    _ method: HTTPMethod, _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in try form.body() }
  }

  /// A POST endpoint with any body.
  public static func post(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, body: body, query: query, defaults: defaults)
  }

  /// A POST endpoint with a form with files.
  public static func post(
    _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, form: form, query: query, defaults: defaults)
  }

  /// A PUT endpoint with any body.
  public static func put(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, body: body, query: query, defaults: defaults)
  }

  /// A PATCH endpoint with any body.
  public static func patch(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, body: body, query: query, defaults: defaults)
  }

  /// Sends the body and returns the response, whose own body is read and dropped.
  @discardableResult
  public func upload() async throws -> HTTPResponse { try await run() }
}

extension Endpoint where Download == Void {
  /// Runs the task; reads and drops the body of the response.
  public func download() async throws { try await run() }
}

/// The settings that the endpoints of one provider share; an endpoint's own modifiers override them.
public struct EndpointDefaults: Sendable {
  /// The server to talk to; nil is ``Server/default``.
  public var server: Server?
  /// Header fields that override those of the server.
  public var headers: HTTPHeaders
  /// The time limit for one attempt.
  public var timeout: Duration
  /// The policy for failed attempts.
  public var retryPolicy: RetryPolicy
  /// The place of payloads in bodies that wrap them.
  public var payloadPath: PayloadPath

  /// Nothing but what is given.
  public init(
    server: Server? = nil, headers: HTTPHeaders = [:], timeout: Duration = .inherited,
    retryPolicy: RetryPolicy = .inherited, payloadPath: PayloadPath = .inherited
  ) {
    self.server = server
    self.headers = headers
    self.timeout = timeout
    self.retryPolicy = retryPolicy
    self.payloadPath = payloadPath
  }
}

/// A URL to fetch without declaring anything: `try await URLTask(url).download()`.
///
/// It runs on ``Server/default`` unless told otherwise, with its settings but without its remote.
public struct URLTask: PayloadDownloadingTask, UploadingTask {
  /// The body as it comes.
  public typealias DownloadPayload = Data

  /// The URL.
  public let url: URL
  /// The method; `.automatic` unless given.
  public let httpMethod: HTTPMethod
  /// Header fields that override those of the server.
  public let headers: HTTPHeaders
  private let body: HTTPBody

  /// A task for a URL.
  public init(_ url: URL, method: HTTPMethod = .automatic, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
    self.url = url
    httpMethod = method
    self.headers = headers
    self.body = body
  }

  /// The body that was given.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
}

extension URLTask: CustomStringConvertible {
  /// Method and URL, secrets hidden.
  public var description: String { "URLTask(\(httpMethod) \(Redaction.standard(url)))" }
}
