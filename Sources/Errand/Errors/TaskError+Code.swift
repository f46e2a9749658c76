extension TaskError {
  /// The kind of failure. The set is open: a later version may know more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// A fixed name without dynamic text, fit for metrics.
    public let name: String
    /// False for the codes of transports and steps of an app's own, whose words may be about anything.
    let isOwn: Bool

    /// A code by its name; for transports and steps of one's own.
    public init(_ name: String) { (self.name, isOwn) = (name, false) }

    private init(own name: String) { (self.name, isOwn) = (name, true) }

    /// Two codes are the same where their names are.
    public static func == (left: Code, right: Code) -> Bool { left.name == right.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name.
    public var description: String { name }

    /// Matches a ``TaskError`` of this kind: `catch TaskError.Code.badStatus`.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? TaskError)?.code == code }

    // Before anything is sent.

    /// The server is `disabled`.
    public static let disabled = Code(own: "disabled")
    /// The server has no remote, or there is no server.
    public static let noRemote = Code(own: "noRemote")
    /// An environment variable names a remote that is not among the known ones.
    public static let unknownRemote = Code(own: "unknownRemote")
    /// A URL is malformed.
    public static let badURL = Code(own: "badURL")
    /// Plain http to a host for which it is not allowed.
    public static let insecureScheme = Code(own: "insecureScheme")
    /// A time limit of nothing or less.
    public static let badLimit = Code(own: "badLimit")
    /// A method or header that cannot be sent.
    public static let badRequest = Code(own: "badRequest")
    /// A payload could not be encoded.
    public static let encodingFailed = Code(own: "encodingFailed")
    /// A body's file or stream could not be read.
    public static let unreadableBody = Code(own: "unreadableBody")
    /// A body that comes once would have had to be sent twice.
    public static let bodyNotReplayable = Code(own: "bodyNotReplayable")
    /// A loop over the body of a response was left, which ended the transfer, and the body is read again.
    public static let bodyConsumed = Code(own: "bodyConsumed")
    /// A body was shorter or longer than its stated length.
    public static let bodyLengthMismatch = Code(own: "bodyLengthMismatch")
    /// A task waits for the serial queue that it holds itself.
    public static let reentrantQueue = Code(own: "reentrantQueue")
    /// As many calls wait as may.
    public static let queueFull = Code(own: "queueFull")

    /// The host failed too often: its circuit breaker is open.
    public static let circuitOpen = Code(own: "circuitOpen")
    /// A step is to be placed beside one that is not there.
    public static let unknownStep = Code(own: "unknownStep")

    // On the way.

    /// The host's name was not found.
    public static let cannotResolveHost = Code(own: "cannotResolveHost")
    /// The address of the host is none that the address policy allows.
    public static let forbiddenAddress = Code(own: "forbiddenAddress")
    /// No connection could be made.
    public static let cannotConnect = Code(own: "cannotConnect")
    /// There is no network.
    public static let offline = Code(own: "offline")
    /// The connection broke.
    public static let connectionLost = Code(own: "connectionLost")
    /// The TLS handshake failed.
    public static let secureConnectionFailed = Code(own: "secureConnectionFailed")
    /// The server's certificate is not trusted.
    public static let untrustedServer = Code(own: "untrustedServer")
    /// None of the registered pins matched.
    public static let pinMismatch = Code(own: "pinMismatch")
    /// There is no token to sign in with: its refresh was refused, or gave none.
    public static let authenticationFailed = Code(own: "authenticationFailed")
    /// Nothing is left to get a token with: the user has to sign in again.
    public static let signInRequired = Code(own: "signInRequired")
    /// The proxy asks for credentials.
    public static let proxyAuthenticationRequired = Code(own: "proxyAuthenticationRequired")
    /// The proxy does not let requests through to the host.
    public static let proxyRefused = Code(own: "proxyRefused")
    /// A time limit was exceeded; ``TaskError/timer`` says which.
    public static let timedOut = Code(own: "timedOut")
    /// The server's response is not HTTP.
    public static let badResponse = Code(own: "badResponse")
    /// The body ended before its stated length.
    public static let truncatedBody = Code(own: "truncatedBody")
    /// The body is larger than allowed.
    public static let bodyTooLarge = Code(own: "bodyTooLarge")
    /// The transport does not support the request, or is not available.
    public static let transportUnavailable = Code(own: "transportUnavailable")

    // After the response.

    /// The status is not among the accepted ones.
    public static let badStatus = Code(own: "badStatus")
    /// The answer to a call that asks for a body was 304: either the copy that the request names is still good, and no cache
    /// has it, or the request names none, and the server is wrong.
    public static let notModified = Code(own: "notModified")
    /// More redirects than the policy allows, or a loop of them.
    public static let tooManyRedirects = Code(own: "tooManyRedirects")
    /// A redirect that must not be followed, or cannot be: to nowhere, or from https to http.
    public static let badRedirect = Code(own: "badRedirect")
    /// Nothing that will do is in the cache, and nothing may be sent.
    public static let notCached = Code(own: "notCached")
    /// The recording that answers has no response to the request, or cannot be read.
    public static let notRecorded = Code(own: "notRecorded")
    /// The body could not be decoded.
    public static let decodingFailed = Code(own: "decodingFailed")
    /// A file that came whole does not have the digest that it should have.
    public static let digestMismatch = Code(own: "digestMismatch")
    /// A transfer is under way already, in this process or in another.
    public static let transferInUse = Code(own: "transferInUse")
    /// A file could not be written.
    public static let fileNotWritable = Code(own: "fileNotWritable")
    /// Something that cannot happen did; please report it.
    public static let `internal` = Code(own: "internal")
  }

  /// A stage in the life of a call.
  public enum Phase: String, Sendable, Hashable {
    /// Before there was a request.
    case preparing = "while preparing the request"
    /// Waiting for a new token.
    case authenticating = "while waiting for a new token"
    /// Waiting for a turn or a slot.
    case waiting = "while waiting for a slot"
    /// Waiting for the next attempt.
    case delaying = "while waiting to try again"
    /// Looking up the name, connecting, shaking hands.
    case connecting = "while connecting"
    /// Sending the request.
    case sending = "while sending the request"
    /// Waiting for the head of the response.
    case awaitingResponse = "while waiting for the response"
    /// Receiving the body.
    case receiving = "while receiving the body"
    /// Checking, decoding and storing what came.
    case finishing = "after the response"
  }
}

extension TaskError.Phase {
  /// The stage of a call after the last moment of `record`.
  init(at record: FlightRecord) {
    switch record.entries.last?.moment {
    case .callStarted, .delayEnded, .turnWaitEnded, nil: self = .preparing
    case .queued, .leftQueue, .turnWaitStarted: self = .waiting
    case .delayStarted: self = .delaying
    case .refreshStarted: self = .authenticating
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
