public import ErrandFoundation

/// An HTTP request with a method, an absolute URL, header fields and a body.
public struct HTTPRequest: Sendable {
  private struct Parts: Sendable {
    var method: HTTPMethod
    var url: URL
    var headers: HTTPHeaders
    var body: HTTPBody
    var options: TransferOptions
  }

  private final class Storage: Sendable {
    let parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }

  // Boxed, because requests are often passed around and rarely changed.
  private var storage: Storage

  private var parts: Parts {
    get { storage.parts }
    set { storage = Storage(newValue) }
  }

  /// Creates a request.
  public init(
    _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .empty,
    options: TransferOptions = TransferOptions()
  ) {
    storage = Storage(Parts(method: method, url: url, headers: headers, body: body, options: options))
  }

  /// The method. Never `.automatic` in a request that is being sent.
  public var method: HTTPMethod {
    get { storage.parts.method }
    set { parts.method = newValue }
  }

  /// The absolute URL.
  public var url: URL {
    get { storage.parts.url }
    set { parts.url = newValue }
  }

  /// The header fields, in the order they are sent.
  public var headers: HTTPHeaders {
    get { storage.parts.headers }
    set { parts.headers = newValue }
  }

  /// The body.
  public var body: HTTPBody {
    get { storage.parts.body }
    set { parts.body = newValue }
  }

  /// The options for the transport.
  public var options: TransferOptions {
    get { storage.parts.options }
    set { parts.options = newValue }
  }
}
