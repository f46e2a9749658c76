import ErrandFoundation

/// A request for a token, sent for the calls that need the token.
struct TokenTask: ServerTask {
  let server: Server
  let request: HTTPRequest

  var url: URL { request.url }
  var httpMethod: HTTPMethod { request.method }
  var headers: HTTPHeaders { request.headers }
  var priority: CallPriority { .urgent }
  var acceptedStatuses: AcceptedStatuses { .all }
  var echoStyle: EchoStyle { .none }
  var recordingStyle: RecordingStyle { .url }
  var authentication: Authentication { .none }
  /// Secrets must only be sent to the configured URL.
  var redirectPolicy: RedirectPolicy { .refuse }
  var cookiePolicy: CookiePolicy { .none }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { request.body }
}

extension ServerConfiguration {
  private static let largestTokenAnswer = 1 << 20

  /// The settings for token requests: limits, security, logging and recording, but no hooks, steps or server header
  /// fields.
  var forTokens: ServerConfiguration {
    var settings = ServerConfiguration()
    settings.standardHeaders = [:]
    settings.insecureHosts = insecureHosts
    settings.pins = pins
    settings.userAgent = userAgent
    settings.userAgentProvider = userAgentProvider
    settings.defaultTimeout = defaultTimeout
    settings.timeouts = timeouts
    settings.retryPolicy = retryPolicy
    settings.circuitBreaker = circuitBreaker
    settings.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    settings.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    settings.waitsForConnectivity = waitsForConnectivity
    settings.reachability = reachability
    settings.connectivityTimeout = connectivityTimeout
    settings.observers = observers
    settings.recorders = recorders
    settings.logStyle = logStyle
    settings.logOptions = logOptions
    settings.log = log
    settings.redaction = redaction
    settings.addressPolicy = addressPolicy
    settings.maximumBodySize = min(maximumBodySize, Self.largestTokenAnswer)
    return settings
  }
}
