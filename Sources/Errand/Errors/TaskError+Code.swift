extension TaskError {
  /// A kind of failure. Later versions may add codes.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// A fixed name without dynamic text, suitable for metrics.
    public let name: String
    /// Whether the library defines the code. Errors with other codes can contain any text.
    let isOwn: Bool

    /// Creates a code for custom transports and steps.
    public init(_ name: String) { (self.name, isOwn) = (name, false) }

    private init(own name: String) { (self.name, isOwn) = (name, true) }

    /// Returns whether two codes have the same name.
    public static func == (left: Code, right: Code) -> Bool { left.name == right.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Same as ``name``.
    public var description: String { name }

    /// Returns whether `error` is a ``TaskError`` with this code. Allows `catch TaskError.Code.badStatus`.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? TaskError)?.code == code }

    // Before the request is sent.

    /// The server is `disabled`.
    public static let disabled = Code(own: "disabled")
    /// The server has no remote, or the task has no server.
    public static let noRemote = Code(own: "noRemote")
    /// An environment variable selects an unknown remote.
    public static let unknownRemote = Code(own: "unknownRemote")
    /// A URL is malformed.
    public static let badURL = Code(own: "badURL")
    /// The request uses plain HTTP, which is not allowed for its host.
    public static let insecureScheme = Code(own: "insecureScheme")
    /// A time limit is zero or less.
    public static let badLimit = Code(own: "badLimit")
    /// The method or a header field is invalid.
    public static let badRequest = Code(own: "badRequest")
    /// A payload could not be encoded.
    public static let encodingFailed = Code(own: "encodingFailed")
    /// The file or stream of a request body could not be read.
    public static let unreadableBody = Code(own: "unreadableBody")
    /// The request had to be resent, but its body can only be read once.
    public static let bodyNotReplayable = Code(own: "bodyNotReplayable")
    /// A streamed response body was read again after a loop or a step had begun to read it.
    public static let bodyConsumed = Code(own: "bodyConsumed")
    /// The body was shorter or longer than its declared length.
    public static let bodyLengthMismatch = Code(own: "bodyLengthMismatch")
    /// A task waits for a serial queue that it already holds.
    public static let reentrantQueue = Code(own: "reentrantQueue")
    /// The queue is full (``ThrottleLimits/maximumWaiting``).
    public static let queueFull = Code(own: "queueFull")

    /// The host has failed too often, and its circuit breaker is open.
    public static let circuitOpen = Code(own: "circuitOpen")
    /// A step can't be added before or after a step that does not exist.
    public static let unknownStep = Code(own: "unknownStep")

    // While sending and receiving.

    /// The host name could not be resolved.
    public static let cannotResolveHost = Code(own: "cannotResolveHost")
    /// The address policy does not allow the host's address.
    public static let forbiddenAddress = Code(own: "forbiddenAddress")
    /// No connection could be established.
    public static let cannotConnect = Code(own: "cannotConnect")
    /// The device is offline.
    public static let offline = Code(own: "offline")
    /// The connection was lost.
    public static let connectionLost = Code(own: "connectionLost")
    /// The TLS handshake failed.
    public static let secureConnectionFailed = Code(own: "secureConnectionFailed")
    /// The server's certificate is not trusted.
    public static let untrustedServer = Code(own: "untrustedServer")
    /// The server's key doesn't match any of the registered pins.
    public static let pinMismatch = Code(own: "pinMismatch")
    /// No token is available: the token refresh was refused, or did not return a token.
    public static let authenticationFailed = Code(own: "authenticationFailed")
    /// No token can be obtained: the user must sign in again.
    public static let signInRequired = Code(own: "signInRequired")
    /// The proxy requires credentials.
    public static let proxyAuthenticationRequired = Code(own: "proxyAuthenticationRequired")
    /// The proxy refuses requests to the host.
    public static let proxyRefused = Code(own: "proxyRefused")
    /// A time limit was exceeded; see ``TaskError/timer``.
    public static let timedOut = Code(own: "timedOut")
    /// The response is not valid HTTP.
    public static let badResponse = Code(own: "badResponse")
    /// The response body is shorter than its declared length.
    public static let truncatedBody = Code(own: "truncatedBody")
    /// The body is larger than allowed.
    public static let bodyTooLarge = Code(own: "bodyTooLarge")
    /// The transport is not available or does not support the request.
    public static let transportUnavailable = Code(own: "transportUnavailable")

    // After the response arrived.

    /// The status of the response is not accepted.
    public static let badStatus = Code(own: "badStatus")
    /// The response was 304, but the call needs a body. Either the request has a condition, such as `If-None-Match`,
    /// and no cached response, or it has no condition and the server's response is wrong.
    public static let notModified = Code(own: "notModified")
    /// The redirects form a loop or exceed the policy's limit.
    public static let tooManyRedirects = Code(own: "tooManyRedirects")
    /// The redirect has no valid target or goes from https to http.
    public static let badRedirect = Code(own: "badRedirect")
    /// The cache has no usable response, and no request is allowed.
    public static let notCached = Code(own: "notCached")
    /// The recording being replayed has no response for the request or can't be read.
    public static let notRecorded = Code(own: "notRecorded")
    /// The body could not be decoded.
    public static let decodingFailed = Code(own: "decodingFailed")
    /// The complete file does not have the expected digest.
    public static let digestMismatch = Code(own: "digestMismatch")
    /// The transfer is already running in this process or another.
    public static let transferInUse = Code(own: "transferInUse")
    /// A file could not be written.
    public static let fileNotWritable = Code(own: "fileNotWritable")
    /// A bug in the library. Please report it.
    public static let `internal` = Code(own: "internal")
  }

  /// A phase of a call.
  public enum Phase: String, Sendable, Hashable {
    /// Before the request was created.
    case preparing = "while preparing the request"
    /// Waiting for a new token.
    case authenticating = "while waiting for a new token"
    /// Waiting for a serial queue.
    case queueing = "while waiting for a serial queue"
    /// Waiting for a slot.
    case waiting = "while waiting for a slot"
    /// Waiting for the next attempt.
    case delaying = "while waiting to retry"
    /// Waiting for a network (``ServerConfiguration/waitsForConnectivity``).
    case awaitingNetwork = "while waiting for a network"
    /// Resolving the host name, connecting, and the TLS handshake.
    case connecting = "while connecting"
    /// Sending the request.
    case sending = "while sending the request"
    /// Waiting for the response head.
    case awaitingResponse = "while waiting for the response"
    /// Receiving the response body.
    case receiving = "while receiving the body"
    /// Checking, decoding or storing the response.
    case finishing = "while processing the response"
  }
}

extension TaskError.Phase {
  /// Creates the phase that a call is in after the last moment of `record`.
  init(at record: FlightRecord) {
    switch record.entries.last?.moment {
    case .callStarted, .delayEnded, .turnWaitEnded, nil: self = .preparing
    case .queued, .leftQueue: self = .waiting
    case .turnWaitStarted: self = .queueing
    case .delayStarted: self = .delaying
    case .refreshStarted: self = .authenticating
    case .networkWaitStarted: self = .awaitingNetwork
    case .networkWaitEnded: self = .awaitingResponse
    case .attemptStarted, .admitted, .hedgeSent, .redirected, .refreshEnded: self = .awaitingResponse
    case .requested, .nameResolved, .connected, .secured, .requestSent: self = .awaitingResponse
    case .responded, .progressed: self = .receiving
    case .cacheMissed: self = .preparing
    case .joined: self = .awaitingResponse
    case .cacheAnswered, .cacheValidated: self = .finishing
    case .bodyReceived, .attemptEnded, .retryRefused, .decoded, .callEnded: self = .finishing
    }
  }
}
