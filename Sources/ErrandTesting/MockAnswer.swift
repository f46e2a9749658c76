public import Errand
public import ErrandFoundation

/// A ``MockServer``'s answer to a request: a response or a simulated failure.
///
///     server.enqueue(.status(503, headers: ["Retry-After": "1"]))
///     server.enqueue(.json(#"{"id":7}"#).after(.milliseconds(50)))
///     server.enqueue(.data(photo, type: "image/jpeg").throttled(bytes: 1000, every: .milliseconds(10)))
///
/// A response gets `Content-Type` and the body's length, unless its header fields already include them. A 304 without a
/// body gets no length, because that would be the length of the 200 response (RFC 9110 §8.6).
public struct MockAnswer: Sendable {
  enum Conduct: Sendable {
    case respond(Content)
    case drop
    case reset
    case hang
    case raw(Data)
  }

  enum Content: Sendable {
    case whole(Data)
    case chunked([Data])
    case endless(Data)
    case truncated(Data, after: Int)
  }

  struct Pace: Sendable {
    var bytes: Int
    var pause: Duration
  }

  private(set) var conduct: Conduct
  let status: HTTPStatus
  private(set) var headers: HTTPHeaders
  private(set) var headDelay = Duration.zero
  private(set) var bodyDelay = Duration.zero
  private(set) var pace: Pace?
  private(set) var isClosing = false
  private(set) var isEarly = false

  private init(
    _ conduct: Conduct, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], type: MediaType? = nil
  ) {
    self.conduct = conduct
    self.status = status
    self.headers = headers
    if let type { self.headers.setDefault(type.rawValue, for: .contentType) }
  }
}

// MARK: Responses

extension MockAnswer {
  /// Responds with a status, and optional header fields and text.
  public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "") -> MockAnswer {
    let type = body.isEmpty ? nil : MediaType.plainText
    return MockAnswer(.respond(.whole(Data(body.utf8))), status: status, headers: headers, type: type)
  }

  /// Responds with JSON text.
  public static func json(_ text: String, status: HTTPStatus = .ok) -> MockAnswer {
    data(Data(text.utf8), type: .json, status: status)
  }

  /// Responds with plain text in UTF-8.
  public static func text(_ text: String, status: HTTPStatus = .ok) -> MockAnswer {
    data(Data(text.utf8), type: .plainText, status: status)
  }

  /// Responds with data of any type.
  public static func data(_ data: Data, type: MediaType = .octetStream, status: HTTPStatus = .ok) -> MockAnswer {
    MockAnswer(.respond(.whole(data)), status: status, type: type)
  }

  /// Responds with these chunks and without a length (`Transfer-Encoding: chunked`). Empty chunks are omitted.
  public static func chunked(_ chunks: [Data], type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.chunked(chunks.filter { !$0.isEmpty })), type: type)
  }

  /// Sends the same chunk repeatedly until the client disconnects.
  public static func endless(chunk: Data, type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.endless(chunk)), type: type)
  }
}

// MARK: Failures

extension MockAnswer {
  /// Reads the request and closes the connection without a response.
  public static let drop = MockAnswer(.drop)

  /// Reads the request and resets the connection. The client sees "connection reset by peer".
  public static let reset = MockAnswer(.reset)

  /// Reads the request and never responds, until the client closes the connection or the server stops.
  public static let hang = MockAnswer(.hang)

  /// Sends the `Content-Length` of `body` but closes the connection after the first `count` bytes.
  public static func truncated(body: Data, after count: Int, type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.truncated(body, after: max(count, 0))), type: type)
  }

  /// Sends raw bytes, including the head, which do not have to be valid HTTP. Then closes the connection.
  public static func raw(_ bytes: Data) -> MockAnswer { MockAnswer(.raw(bytes)) }
}

// MARK: Modifiers

extension MockAnswer {
  /// Waits before the first byte.
  public func after(_ delay: Duration) -> MockAnswer { with { $0.headDelay = delay } }

  /// Sends the head immediately and waits before the first byte of the body.
  public func bodyAfter(_ delay: Duration) -> MockAnswer { with { $0.bodyDelay = delay } }

  /// Adds a header field. Existing fields with the same name are kept.
  public func header(_ name: HTTPHeaderName, _ value: String) -> MockAnswer {
    with { $0.headers.add(value, for: name) }
  }

  /// Sends `Connection: close` and closes the connection after the response.
  public func closing() -> MockAnswer { with { $0.isClosing = true } }

  /// Responds as soon as the request's head has arrived. Doesn't send `100 Continue`. The body is read and discarded
  /// afterwards. With ``closing()``, the client sees the end of the response while it is still sending.
  ///
  /// Only for answers that are known before the request: queued answers, and those from
  /// ``MockServer/route(_:_:answer:)``. A route's closure is only called when the body is complete.
  public func earlyAnswer() -> MockAnswer { with { $0.isEarly = true } }

  /// Sends the body in parts of at most `bytes` bytes, with a pause after each. Chunked bodies are split into chunks of
  /// at most this size, so a large number means one pause per chunk.
  public func throttled(bytes: Int, every pause: Duration) -> MockAnswer {
    with { $0.pace = Pace(bytes: max(bytes, 1), pause: pause) }
  }

  /// Closes the connection partway through the body. An answer without a body becomes ``drop``.
  func cut(after part: Double) -> MockAnswer {
    let body: Data
    switch conduct {
    case .respond(.whole(let data)): body = data
    case .respond(.chunked(let chunks)): body = chunks.reduce(Data(), +)
    default: return self
    }
    let count = Int(Double(body.count) * part)
    return with { $0.conduct = body.isEmpty ? .drop : .respond(.truncated(body, after: count)) }
  }

  private func with(_ change: (inout MockAnswer) -> Void) -> MockAnswer {
    var copy = self
    change(&copy)
    return copy
  }
}
