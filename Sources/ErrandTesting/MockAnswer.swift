public import Errand
public import ErrandFoundation

/// The answer of a ``MockServer`` to a request: a response, or one of the ways in which servers fail.
///
///     server.enqueue(.status(503, headers: ["Retry-After": "1"]))
///     server.enqueue(.json(#"{"id":7}"#).after(.milliseconds(50)))
///     server.enqueue(.data(photo, type: "image/jpeg").throttled(bytes: 1000, every: .milliseconds(10)))
///
/// A response says `Content-Type` and how long its body is, unless its own header fields say so already. A 304 without a body says nothing
/// of it, for its length would be that of the 200 (RFC 9110 §8.6).
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

  let conduct: Conduct
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
  /// A status, with header fields and a body of text if you like.
  public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "") -> MockAnswer {
    let type = body.isEmpty ? nil : MediaType.plainText
    return MockAnswer(.respond(.whole(Data(body.utf8))), status: status, headers: headers, type: type)
  }

  /// JSON, written out.
  public static func json(_ text: String, status: HTTPStatus = .ok) -> MockAnswer {
    data(Data(text.utf8), type: .json, status: status)
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: HTTPStatus = .ok) -> MockAnswer {
    data(Data(text.utf8), type: .plainText, status: status)
  }

  /// Bytes of any type.
  public static func data(_ data: Data, type: MediaType = .octetStream, status: HTTPStatus = .ok) -> MockAnswer {
    MockAnswer(.respond(.whole(data)), status: status, type: type)
  }

  /// A body of unknown length in these chunks (`Transfer-Encoding: chunked`). Empty ones are left out.
  public static func chunked(_ chunks: [Data], type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.chunked(chunks.filter { !$0.isEmpty })), type: type)
  }

  /// The same chunk again and again, until the client goes away.
  public static func endless(chunk: Data, type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.endless(chunk)), type: type)
  }
}

// MARK: Failures

extension MockAnswer {
  /// Reads the request and closes the connection without an answer.
  public static let drop = MockAnswer(.drop)

  /// Reads the request and resets the connection, so that the client sees "connection reset by peer".
  public static let reset = MockAnswer(.reset)

  /// Reads the request and never answers, until the client closes or the server stops.
  public static let hang = MockAnswer(.hang)

  /// Promises all of `body` in its `Content-Length`, and closes after its first `count` bytes.
  public static func truncated(body: Data, after count: Int, type: MediaType = .octetStream) -> MockAnswer {
    MockAnswer(.respond(.truncated(body, after: max(count, 0))), type: type)
  }

  /// These bytes as they are, head and all, or no HTTP at all; then closes.
  public static func raw(_ bytes: Data) -> MockAnswer { MockAnswer(.raw(bytes)) }
}

// MARK: Modifiers

extension MockAnswer {
  /// Waits before the first byte.
  public func after(_ delay: Duration) -> MockAnswer { with { $0.headDelay = delay } }

  /// Sends the head at once, and waits before the first byte of the body.
  public func bodyAfter(_ delay: Duration) -> MockAnswer { with { $0.bodyDelay = delay } }

  /// Adds a header field, beside those of that name that are there.
  public func header(_ name: HTTPHeaderName, _ value: String) -> MockAnswer {
    with { $0.headers.add(value, for: name) }
  }

  /// Says `Connection: close`, and closes after the answer.
  public func closing() -> MockAnswer { with { $0.isClosing = true } }

  /// Answers as soon as the request's head is there: no `100 Continue`, and the body is read and forgotten
  /// afterwards. With ``closing()`` the client sees the end of the answer while it still sends.
  ///
  /// It is for answers that are known before the request: queued ones, and those of
  /// ``MockServer/route(_:_:answer:)``. A route's closure is only called once the body is there.
  public func earlyAnswer() -> MockAnswer { with { $0.isEarly = true } }

  /// Sends the body in pieces of at most `bytes`, with a pause after each. A chunked body becomes chunks of at most
  /// that size, so with a large number there is one pause after every chunk.
  public func throttled(bytes: Int, every pause: Duration) -> MockAnswer {
    with { $0.pace = Pace(bytes: max(bytes, 1), pause: pause) }
  }

  private func with(_ change: (inout MockAnswer) -> Void) -> MockAnswer {
    var copy = self
    change(&copy)
    return copy
  }
}
