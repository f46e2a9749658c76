public import ErrandFoundation

/// A task as a value instead of a separate type, generic over the payloads it sends and receives.
///
///     let widget: Widget = try await shop.send(.get("widgets/7"))
///     let added: Widget = try await shop.send(.post("widgets", body: widget))
///     try await shop.send(.delete("widgets/7"))
///
/// `Upload` is `Void` if the request has no body, and `Download` is `Void` if the response's body is ignored. To reuse
/// an endpoint, give it a name:
///
///     extension Endpoint<Void, Widget> {
///       static func widget(_ id: Int) -> Self { .get("widgets/\(id)") }
///     }
///     let widget = try await shop.send(.widget(7))
public struct Endpoint<Upload: Sendable, Download: Sendable>: ServerTask {
  /// The settings shared by a group of endpoints.
  public typealias Defaults = EndpointDefaults

  /// The path relative to the server's remote.
  public let path: String
  /// The method.
  public let httpMethod: HTTPMethod
  /// The query items added to the URL.
  public let query: HTTPQuery
  private let defaults: Defaults
  private let body: @Sendable (any BodyEncoder) async throws -> HTTPBody

  init(
    _ method: HTTPMethod, _ path: String, _ query: HTTPQuery, _ defaults: Defaults,
    body: @escaping @Sendable (any BodyEncoder) async throws -> HTTPBody
  ) {
    httpMethod = method
    self.path = path
    self.query = query
    self.defaults = defaults
    self.body = body
  }

  /// The server from the defaults, or ``Server/default`` if the defaults don't set one.
  public var server: Server { defaults.server ?? .default }
  /// The header fields from the defaults.
  public var headers: HTTPHeaders { defaults.headers }
  /// The time limit from the defaults.
  public var timeout: Duration { defaults.timeout }
  /// The retry policy from the defaults.
  public var retryPolicy: RetryPolicy { defaults.retryPolicy }
  /// The payload path from the defaults.
  public var payloadPath: PayloadPath { defaults.payloadPath }
  /// Returns the encoded payload, the body that was passed in, or an empty body.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    try await body(encoder)
  }
}

extension Endpoint: CustomStringConvertible {
  /// The method, path and query, with secrets redacted.
  public var description: String {
    let address = query.isEmpty ? path : "\(path)?\(query.encoded)"
    return "Endpoint(\(httpMethod) \(Redaction.standard(address: address)))"
  }
}

extension Endpoint: PayloadDownloadingTask where Download: Decodable {
  /// The type of the response's payload.
  public typealias DownloadPayload = Download
}

extension Endpoint: UploadingTask where Upload: Encodable {}

/// The settings shared by a group of endpoints. An endpoint's modifiers override them.
public struct EndpointDefaults: Sendable {
  /// The server. If `nil`, ``Server/default`` is used.
  public var server: Server?
  /// Header fields that override those of the server.
  public var headers: HTTPHeaders
  /// The time limit for one attempt.
  public var timeout: Duration
  /// The policy for retrying failed attempts.
  public var retryPolicy: RetryPolicy
  /// The path to the payload in the response body.
  public var payloadPath: PayloadPath

  /// Creates defaults. Omitted settings are inherited.
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

/// A ready-made task that requests a URL: `try await URLTask(url).data()`.
///
/// It uses the settings of ``Server/default``, or of the server set with ``ServerTask/on(_:)``, but not the server's
/// remote.
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
  /// The method and URL, with secrets redacted.
  public var description: String { "URLTask(\(httpMethod) \(Redaction.standard(url)))" }
}
