public import ErrandFoundation

/// All settings of a server as one value. Copying settings to another server is copying this value.
///
///     await shop.update { $0.defaultTimeout = .seconds(10) }
///
/// A call takes a snapshot when it begins; a later change never tears it apart.
public struct ServerConfiguration: Sendable {
  // MARK: Where

  /// The URL at which paths begin. One with a user or a fragment fails every call below it: ``setRemote(_:)`` refuses it at once.
  public var remote: Remote = .none
  /// True when every call fails at once.
  public var disabled = false
  /// Hosts to which plain http is allowed, each by its name; loopback hosts always are.
  public var insecureHosts: Set<String> = [] {
    didSet { insecureHosts = Set(insecureHosts.map { HostName.normal($0) }) }
  }

  /// Origins beside the remote's to which this server's header fields go, such as `https://cdn.example.com`.
  ///
  /// ``standardHeaders`` and ``computedHeaders`` are for the remote's origin. A call to another one, by a ``URLTask``,
  /// by a path that is a whole URL or by a redirect, gets only their `Accept`, `Accept-Language` and `User-Agent`, unless it is in
  /// this list. The task's own fields go wherever the task goes. An entry that is no origin matches nothing.
  public var trustedOrigins: Set<String> = []
  /// The rule for addresses that connections are made to.
  public var addressPolicy = AddressPolicy.any
  /// The keys that hosts must show, beside a certificate that is trusted.
  public var pins = PublicKeyPins()

  // MARK: What

  /// Header fields of every request; a task's own override them. `Accept: */*` unless changed.
  public var standardHeaders: HTTPHeaders = [.accept: "*/*"]
  /// More header fields, computed for a task when its request is built; they override ``standardHeaders``.
  public var computedHeaders: (@Sendable (_ task: any ServerTask) async throws -> HTTPHeaders)?
  /// The value of `User-Agent`; empty sends none.
  public var userAgent = ServerConfiguration.defaultUserAgent
  /// Computes the `User-Agent` of every request, where it is not known beforehand; overrides ``userAgent``.
  public var userAgentProvider: (@Sendable () async -> String)?
  /// The way in which requests are signed in, such as `.bearer(token)`; nothing does unless set.
  public var authentication = Authentication.none
  /// Encodes payloads: JSON unless set, its keys in order, so that the same value is the same bytes each time it is sent.
  public var defaultEncoder: any BodyEncoder = ServerConfiguration.sortingEncoder
  /// Decodes payloads.
  public var defaultDecoder: any PayloadDecoder = JSONDecoder()
  /// Decoders by the media type of the response; where none fits, ``defaultDecoder`` counts. A task's own decoder overrides them.
  public var decoders: [MediaType: any PayloadDecoder] = [:]
  /// The place of payloads in bodies that wrap them, such as `"data"`; the body itself unless stated. A task's own overrides it, and it
  /// does not count for payloads of bytes and text, which are the body, nor for ``errorPayload``.
  public var payloadPath = PayloadPath.whole
  /// The payload of refused responses, which ``TaskError/payload(as:)`` gives and the error's line shows; a task's own
  /// `ErrorPayload` overrides it, and nil is none.
  public var errorPayload: (any (Decodable & Sendable).Type)?
  /// True when requests accept compressed bodies, which are decoded on arrival, where the transport can.
  public var enableGZipDownloads = true
  /// The size in bytes from which bodies of requests are sent packed by gzip, for servers that take them; nil is never. A body of unknown
  /// size counts as large, and one with a `Content-Encoding` is left as it is. Where zlib is not there, none is packed.
  public var gzipUploadThreshold: Int?
  /// True when a status that is not accepted is thrown as an error. Otherwise the response is returned once there is no
  /// further attempt, and a file that was to be replaced stays as it is.
  public var reportBadHTTPStatusAsError = true
  /// The most bytes of the body of a refused response that an error keeps.
  public var maximumErrorBodySize = 1 << 20 { didSet { maximumErrorBodySize = max(0, maximumErrorBodySize) } }
  /// The largest body that is collected in memory, in bytes, once it is unpacked; files and streams have no limit.
  public var maximumBodySize = 256 << 20 { didSet { maximumBodySize = max(0, maximumBodySize) } }

  // MARK: How

  /// The time limit for one attempt; `.unlimited` is none. With a body to or from a file or a stream, for the head of
  /// the response and for the idle time of that body.
  public var defaultTimeout: Duration = .seconds(30)
  /// Limits for the other parts of a call.
  public var timeouts = Timeouts(connect: .seconds(10))
  /// The policy for failed attempts.
  public var retryPolicy = RetryPolicy.standard
  /// The rule by which a failing host is left alone for a while; the state is the manager's.
  public var circuitBreaker = CircuitBreaker.off
  /// The rule for sending a slow request again, beside the first.
  public var hedging = Hedging.none
  /// The rule for responses that point elsewhere.
  public var redirectPolicy = RedirectPolicy.follow
  /// The cookies that requests send, and the place for those that responses set: a jar in memory of each server unless set.
  public var cookiePolicy = CookiePolicy.perServer
  /// True when calls that send the same request at the same time share one, where its method is safe and bodies are in memory.
  public var coalescesRequests = false
  /// The place for responses that may be used again; nil is none, and costs nothing.
  public var cache: (any CacheStore)?
  /// The use of the cache.
  public var cachePolicy = CachePolicy.standard
  /// True when networks that cost money by the byte may be used.
  public var allowsExpensiveNetworkAccess = true
  /// True when networks in low-data mode may be used.
  public var allowsConstrainedNetworkAccess = true
  /// True when a call waits for a network where there is none: when nothing could be reached, ``reachability`` says
  /// when to try again, for as long as ``connectivityTimeout``.
  public var waitsForConnectivity = false
  /// Knows when it is worth trying again.
  public var reachability: any Reachability = PollingReachability()
  /// The time limit for waiting for a network, over all attempts of a call.
  public var connectivityTimeout: Duration = .seconds(60)
  /// Steps that see every call once, outermost first.
  public var perCallSteps: [any PerCallStep] = []
  /// Steps that see every attempt, outermost first.
  public var perAttemptSteps: [any PerAttemptStep] = []

  // MARK: Hooks

  /// Sees every request after the task's own preflight, for every attempt; may change it or throw.
  public var preflight: (@Sendable (_ task: any ServerTask, _ request: inout HTTPRequest) async throws -> Void)?
  /// Sees the head of a response whose status was accepted, after the task's own verification; what it throws fails
  /// the call before anything but its cookies is stored.
  public var verify: (@Sendable (_ task: any ServerTask, _ response: HTTPResponse) throws -> Void)?
  /// Sees the response of a result, after the task's own postflight and before the end; what it throws fails the call.
  public var postflight: (@Sendable (_ task: any ServerTask, _ response: HTTPResponse) async throws -> Void)?

  /// Called when a call begins; what it returns is called when the call has ended. Wire it to whatever keeps the app
  /// awake meanwhile, such as a background task; nil by default.
  public var keepAwake: (@Sendable (_ task: any ServerTask) -> @Sendable () -> Void)?

  // MARK: Logging and recording

  /// The observers of every call.
  public var observers: [any TaskObserver] = []
  /// True where requests to the remote's origin, and to trusted ones, carry the trace that the call takes part in; see
  /// ``TraceContext``.
  public var propagatesTraces = true
  /// The recorders of every call, which get it once it has ended.
  public var recorders: [any CallRecorder] = []
  /// The moments of every call that are logged, into ``log``.
  public var logStyle = LogStyle.none
  /// The parts of every call that ``log`` says in a line once it has ended; none unless set, and a call's own override them.
  public var logOptions: LogOptions = []
  /// True when every exchange is echoed into ``log`` unless its task says otherwise.
  public var echoesTasks = false
  /// The tasks whose exchanges are echoed, unless they say otherwise: names of tasks and of their types, with `Endpoint` for all
  /// endpoints; hosts; paths below the remote that begin with `/`, in which `*` stands for any characters; `*` for all.
  public var echoedTasks: Set<String> = []
  /// The destination of echoes and log lines.
  public var log = TextSink.standardError
  /// The rule for hiding secrets in everything that people may read.
  public var redaction = Redaction.standard
  /// The largest body of a response that echoes and recordings show, in bytes; a placeholder stands for larger ones.
  public var maxLoggedDownloadSize = 10 << 20
  /// The largest body of a request that echoes and recordings show, in bytes; a placeholder stands for larger ones.
  public var maxLoggedUploadSize = 4 << 10

  /// The settings of a new server.
  public init() {}

  /// Replaces the remote.
  /// Throws ``TaskError`` with code `.badURL` when it has a user or a fragment; nothing is changed then.
  public mutating func setRemote(_ remote: Remote) throws {
    if let problem = remote.problem { throw problem }
    self.remote = remote
  }

  /// These settings with requests signed in, after the ways that are there already.
  public func authenticated(_ authentication: Authentication) -> ServerConfiguration {
    var configuration = self
    configuration.authentication = self.authentication.adding(authentication)
    return configuration
  }

  /// Adds a key that a host must show, or one of several that it may; see ``PublicKeyPins``.
  ///
  /// - Parameters:
  ///   - publicKey: `sha256/` and the hash of the key's `SubjectPublicKeyInfo` in Base64.
  ///   - host: The host; `*.example.com` stands for every name with one more label.
  ///   - expiry: The date from which the key no longer counts; nil is never.
  public mutating func register(publicKey: String, for host: String, until expiry: Date? = nil) {
    pins.register(publicKey, for: host, until: expiry)
  }

  private static let sortingEncoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }()

  /// `AppName/1.0 Errand/0.1 (Linux)`, from the main bundle or the name of the executable.
  public static let defaultUserAgent: String = {
    let (name, version) = program
    return userAgent(of: name, version: version)
  }()

  // RFC 9110 §10.1.5: products are tokens. A name without a single byte of a token is left out.
  static func userAgent(of name: String, version: String?) -> String {
    func token(_ text: String) -> String {
      String(decoding: text.utf8.filter(HTTPHeaderName.isTokenByte), as: UTF8.self)
    }
    let product = [name, version ?? ""].map(token).filter { !$0.isEmpty }.joined(separator: "/")
    #if os(Linux)
      let system = "Linux"
    #elseif os(macOS)
      let system = "macOS"
    #else
      let system = "Apple"
    #endif
    let errand = "Errand/0.1 (\(system))"
    return token(name).isEmpty ? errand : "\(product) \(errand)"
  }

  private static var program: (name: String, version: String?) {
    let process = ProcessInfo.processInfo.processName
    #if canImport(Darwin)
      let information = Bundle.main.infoDictionary
      let name = information?["CFBundleName"] as? String
      return (name ?? process, information?["CFBundleShortVersionString"] as? String)
    #else
      return (process, nil)
    #endif
  }
}

extension ServerConfiguration {
  /// Installs a step that sees every call once, before (outside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerCallStep, before name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps))
  }

  /// Installs a step that sees every call once, after (inside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerCallStep, after name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps) + 1)
  }

  /// Installs a step that sees every attempt, before (outside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerAttemptStep, before name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps))
  }

  /// Installs a step that sees every attempt, after (inside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerAttemptStep, after name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps) + 1)
  }

  private static func index(of name: String, in steps: [any Step]) throws -> Int {
    if let index = steps.firstIndex(where: { $0.name == name }) { return index }
    let known = steps.isEmpty ? "there are none" : "there are: " + steps.map(\.name).joined(separator: ", ")
    throw TaskError(.unknownStep, "no step of this kind is called '\(name)'; \(known)", phase: .preparing)
  }
}
