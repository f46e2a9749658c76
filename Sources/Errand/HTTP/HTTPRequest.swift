public import ErrandFoundation

/// A request as it is sent: method, absolute URL, header fields and body.
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

  // Boxed, for a request is passed through many hands, and changed by few.
  private var storage: Storage

  private var parts: Parts {
    get { storage.parts }
    set { storage = Storage(newValue) }
  }

  /// A request by its parts.
  public init(
    _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .empty,
    options: TransferOptions = TransferOptions()
  ) {
    storage = Storage(Parts(method: method, url: url, headers: headers, body: body, options: options))
  }

  /// The method; never `.automatic` once a request is sent.
  public var method: HTTPMethod {
    get { storage.parts.method }
    set { parts.method = newValue }
  }

  /// The absolute URL.
  public var url: URL {
    get { storage.parts.url }
    set { parts.url = newValue }
  }

  /// The header fields, in the order in which they are sent.
  public var headers: HTTPHeaders {
    get { storage.parts.headers }
    set { parts.headers = newValue }
  }

  /// The body.
  public var body: HTTPBody {
    get { storage.parts.body }
    set { parts.body = newValue }
  }

  /// The instructions for the transport that carries it.
  public var options: TransferOptions {
    get { storage.parts.options }
    set { parts.options = newValue }
  }
}
