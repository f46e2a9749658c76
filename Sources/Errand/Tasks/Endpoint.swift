public import ErrandFoundation

/// A task as a value instead of a separate type, generic over the payloads it sends and receives.
///
///     extension Endpoint<Void, Widget> {
///       static func widget(_ id: Int) -> Self { .get("widgets/\(id)") }
///     }
///     let widget = try await Endpoint<Void, Widget>.widget(7).download()
public struct Endpoint<Upload: Sendable, Download: Sendable>: ServerTask {
  /// The settings shared by a group of endpoints.
  public typealias Defaults = EndpointDefaults

  /// The path relative to the server's remote.
  public let path: String
  /// The method.
  public let httpMethod: HTTPMethod
  /// The items added to the URL's query.
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

  /// The server from the defaults, or ``Server/default`` if they have none.
  public var server: Server { defaults.server ?? .default }
  /// The header fields from the defaults.
  public var headers: HTTPHeaders { defaults.headers }
  /// The time limit from the defaults.
  public var timeout: Duration { defaults.timeout }
  /// The retry policy from the defaults.
  public var retryPolicy: RetryPolicy { defaults.retryPolicy }
  /// The payload path from the defaults.
  public var payloadPath: PayloadPath { defaults.payloadPath }
  /// Encodes the payload, or returns the body that was passed in.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    try await body(encoder)
  }
}

extension Endpoint: CustomStringConvertible {
  /// Method, path and query, with secrets redacted.
  public var description: String {
    let address = query.isEmpty ? path : "\(path)?\(query.encoded)"
    return "Endpoint(\(httpMethod) \(Redaction.standard(address: address)))"
  }
}

extension Endpoint: PayloadDownloadingTask where Download: Decodable {
  /// The payload of the response.
  public typealias DownloadPayload = Download
}

extension Endpoint: UploadingTask where Upload: Encodable {}

extension Endpoint where Upload == Void {
  /// Creates an endpoint with any method and no body.
  public static func request(
    _ method: HTTPMethod, _ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in .empty }
  }

  /// Creates a GET endpoint.
  public static func get(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.get, path, query: query, defaults: defaults)
  }

  /// Creates a DELETE endpoint.
  public static func delete(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.delete, path, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload: Encodable {
  /// Creates an endpoint with any method and a payload.
  public static func request(
    _ method: HTTPMethod, _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { try await PayloadCoding.encode(payload, with: $0) }
  }

  /// Creates a POST endpoint.
  public static func post(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, payload, query: query, defaults: defaults)
  }

  /// Creates a PUT endpoint.
  public static func put(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, payload, query: query, defaults: defaults)
  }

  /// Creates a PATCH endpoint.
  public static func patch(
    _ path: String, _ payload: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, payload, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == HTTPBody {
  /// Creates an endpoint with any method and any body: bytes, text, a form, a file or a stream.
  ///
  ///     try await Endpoint<HTTPBody, Void>.put("notes/7", body: .file(notes)).upload()
  public static func request(
    _ method: HTTPMethod, _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in body }
  }

  /// Creates an endpoint with any method and a multipart form. Its files are opened for every attempt.
  public static func request(
    _ method: HTTPMethod, _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in try form.body() }
  }

  /// Creates a POST endpoint with any body.
  public static func post(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a POST endpoint with a multipart form.
  public static func post(
    _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, form: form, query: query, defaults: defaults)
  }

  /// Creates a PUT endpoint with any body.
  public static func put(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a PATCH endpoint with any body.
  public static func patch(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, body: body, query: query, defaults: defaults)
  }

  /// Sends the body and returns the response. The response's body is read and discarded.
  @discardableResult
  public func upload() async throws -> HTTPResponse { try await run() }
}

extension Endpoint where Download == Void {
  /// Runs the task. The response's body is read and discarded.
  public func download() async throws { try await run() }
}

/// The settings shared by a group of endpoints. Modifiers of an endpoint override them.
public struct EndpointDefaults: Sendable {
  /// The server; `nil` uses ``Server/default``.
  public var server: Server?
  /// Header fields that override those of the server.
  public var headers: HTTPHeaders
  /// The time limit for one attempt.
  public var timeout: Duration
  /// The policy for failed attempts.
  public var retryPolicy: RetryPolicy
  /// The path of the payload inside the response body.
  public var payloadPath: PayloadPath

  /// Creates defaults with these settings. Everything else is inherited.
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

/// A task for a URL, without declaring a type: `try await URLTask(url).download()`.
///
/// It runs on ``Server/default``, or the server set by ``ServerTask/on(_:)``, but does not use that server's remote.
public struct URLTask: PayloadDownloadingTask, UploadingTask {
  /// The body of the response.
  public typealias DownloadPayload = Data

  /// The URL.
  public let url: URL
  /// The method. Defaults to `.automatic`.
  public let httpMethod: HTTPMethod
  /// Header fields that override those of the server.
  public let headers: HTTPHeaders
  private let body: HTTPBody

  /// Creates a task for a URL.
  public init(_ url: URL, method: HTTPMethod = .automatic, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
    self.url = url
    httpMethod = method
    self.headers = headers
    self.body = body
  }

  /// Returns the body passed to the initializer.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
}

extension URLTask: CustomStringConvertible {
  /// Method and URL, with secrets redacted.
  public var description: String { "URLTask(\(httpMethod) \(Redaction.standard(url)))" }
}
