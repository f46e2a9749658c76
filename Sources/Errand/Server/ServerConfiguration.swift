public import ErrandFoundation

/// A server's settings. Copy this value to copy the settings to another server.
///
///     await shop.update { $0.defaultTimeout = .seconds(10) }
///
/// A call takes a snapshot when it begins, so later changes don't affect it.
public struct ServerConfiguration: Sendable {
  // MARK: Destination

  /// The base URL for paths. If it has a user name or a fragment, every call to a path below it fails.
  /// ``setRemote(_:)`` throws instead.
  public var remote: Remote = .none
  /// Whether every call fails immediately.
  public var disabled = false
  /// Host names that allow plain http. Loopback hosts are always allowed.
  public var insecureHosts: Set<String> = [] {
    didSet { insecureHosts = Set(insecureHosts.map { HostName.normal($0) }) }
  }

  /// Additional origins that receive this server's header fields, such as `https://cdn.example.com`.
  ///
  /// ``standardHeaders`` and ``computedHeaders`` are sent only to these origins and to the remote's. A call to any
  /// other origin, through a ``URLTask``, a complete URL as the path or a redirect, sends only the `Accept`,
  /// `Accept-Language` and `User-Agent` fields. The task's own header fields are always sent. Invalid origins are
  /// ignored.
  public var trustedOrigins: Set<String> = []
  /// The policy for the IP addresses to connect to.
  public var addressPolicy = AddressPolicy.any
  /// Pinned public keys, checked in addition to the certificate chain.
  public var pins = PublicKeyPins()

  // MARK: Content

  /// Header fields sent with every request. A task's own fields override them. Defaults to `Accept: */*`.
  public var standardHeaders: HTTPHeaders = [.accept: "*/*"]
  /// Computes additional header fields for a task when its request is built. They override ``standardHeaders``.
  public var computedHeaders: (@Sendable (_ task: any ServerTask) async throws -> HTTPHeaders)?
  /// The value of `User-Agent`. Not sent if empty.
  public var userAgent = ServerConfiguration.defaultUserAgent
  /// Computes the `User-Agent` of every request. Overrides ``userAgent``.
  public var userAgentProvider: (@Sendable () async -> String)?
  /// The authentication for requests, such as `.bearer(token)`. Defaults to `.none`.
  public var authentication = Authentication.none
  /// The encoder for payloads. Defaults to JSON with sorted keys, which encodes equal values as the same bytes.
  public var defaultEncoder: any BodyEncoder = ServerConfiguration.sortingEncoder
  /// The decoder for payloads. Defaults to JSON.
  public var defaultDecoder: any PayloadDecoder = JSONDecoder()
  /// Decoders for specific response media types. Other media types use ``defaultDecoder``. A task's own decoder
  /// overrides them.
  public var decoders: [MediaType: any PayloadDecoder] = [:]
  /// The path of payloads inside response bodies, such as `"data"`. Defaults to the entire body.
  ///
  /// A task's own path overrides it. It does not apply to `Data` and `String` payloads or to ``errorPayload``.
  public var payloadPath = PayloadPath.whole
  /// The type decoded from error responses, for ``TaskError/payload(as:)`` and the error's description. A task's own
  /// `ErrorPayload` overrides it. Defaults to `nil`, which decodes nothing.
  public var errorPayload: (any (Decodable & Sendable).Type)?
  /// Whether requests accept compressed responses, which are decompressed if the transport supports it.
  public var enableGZipDownloads = true
  /// The minimum size, in bytes, of request bodies that are compressed with gzip. Defaults to `nil`, which never
  /// compresses.
  ///
  /// The server must support this. A body of unknown size is compressed, and a body with a `Content-Encoding` is not.
  /// Nothing is compressed if zlib is not available.
  public var gzipUploadThreshold: Int?
  /// Whether a status that is not accepted is thrown as an error. If `false`, the response is returned after the last
  /// attempt, and a destination file is not replaced.
  public var reportBadHTTPStatusAsError = true
  /// The maximum number of bytes of an error response body kept in ``TaskError``. Defaults to 1 MiB.
  public var maximumErrorBodySize = 1 << 20 { didSet { maximumErrorBodySize = max(0, maximumErrorBodySize) } }
  /// The maximum size, in bytes, of a decompressed body in memory. Does not apply to files and streams. Defaults to 256
  /// MiB.
  public var maximumBodySize = 256 << 20 { didSet { maximumBodySize = max(0, maximumBodySize) } }

  // MARK: Timeouts and policies

  /// The time limit for one attempt. `.unlimited` turns it off. Defaults to 30 seconds.
  ///
  /// If a body is read from or written to a file or a stream, this limits the time until the response head arrives, and
  /// how long that body may be idle.
  public var defaultTimeout: Duration = .seconds(30)
  /// The time limits for the other phases of a call. By default, only the connect timeout is set, to 10 seconds.
  public var timeouts = Timeouts(connect: .seconds(10))
  /// The policy for retrying failed attempts.
  public var retryPolicy = RetryPolicy.standard
  /// The circuit breaker for failing hosts. Its state belongs to the manager.
  public var circuitBreaker = CircuitBreaker.off
  /// The policy for sending a slow request again, concurrently with the first.
  public var hedging = Hedging.none
  /// The policy for redirects.
  public var redirectPolicy = RedirectPolicy.follow
  /// The policy for sending and storing cookies. By default, each server has its own in-memory jar.
  public var cookiePolicy = CookiePolicy.perServer
  /// Whether identical concurrent calls share one request. Requires a safe method and no request body. Requests are not
  /// shared if the server has ``perAttemptSteps``, because a step can add the credentials of its call.
  public var coalescesRequests = false
  /// The cache for responses. Defaults to `nil`, which turns caching off.
  public var cache: (any CacheStore)?
  /// How calls use the cache.
  public var cachePolicy = CachePolicy.standard
  /// Whether metered networks can be used.
  public var allowsExpensiveNetworkAccess = true
  /// Whether networks in low-data mode can be used.
  public var allowsConstrainedNetworkAccess = true
  /// Whether a call waits for a network if none is available, for up to ``connectivityTimeout``.
  public var waitsForConnectivity = false
  /// Detects when the network is available again, for ``waitsForConnectivity``.
  public var reachability: any Reachability = SystemReachability()
  /// The time limit for waiting for a network, across all attempts of a call. Defaults to 60 seconds.
  public var connectivityTimeout: Duration = .seconds(60)
  /// Steps that run once per call, outermost first.
  public var perCallSteps: [any PerCallStep] = []
  /// Steps that run for every attempt, outermost first.
  public var perAttemptSteps: [any PerAttemptStep] = []

  // MARK: Hooks

  /// Called for every attempt, after the task's own preflight. Can change the request, or throw to fail the call.
  public var preflight: (@Sendable (_ task: any ServerTask, _ request: inout HTTPRequest) async throws -> Void)?
  /// Verifies the head of a response with an accepted status, after the task's own verification. If this throws, the
  /// call fails, and nothing but its cookies is stored.
  public var verify: (@Sendable (_ task: any ServerTask, _ response: HTTPResponse) throws -> Void)?
  /// Called with the final response, after the task's own postflight. An error thrown here fails the call.
  public var postflight: (@Sendable (_ task: any ServerTask, _ response: HTTPResponse) async throws -> Void)?

  /// Called when a call begins. The closure it returns is called when the call has ended. Use it to keep the app awake
  /// during calls, for example with a background task. Defaults to `nil`.
  public var backgroundActivity: (@Sendable (_ task: any ServerTask) -> @Sendable () -> Void)?

  // MARK: Logging and recording

  /// The observers of all calls.
  public var observers: [any TaskObserver] = []
  /// Whether requests to the remote's origin and to trusted origins carry the call's trace; see ``TraceContext``.
  public var propagatesTraces = true
  /// The recorders of all calls. They receive each call when it has ended.
  public var recorders: [any CallRecorder] = []
  /// The events written to ``log`` for every call.
  public var logStyle = LogStyle.none
  /// The parts of every call that are logged once it has ended. A call's own options override them. None by default.
  public var logOptions: LogOptions = []
  /// Whether every exchange is echoed to ``log``, unless the task overrides it.
  public var echoesTasks = false
  /// The tasks whose exchanges are echoed, unless the task overrides it.
  ///
  /// An entry is the name of a task or of its type (`Endpoint` for all endpoints), a host, or a path below the remote
  /// that begins with `/`. In a path, `*` stands for any sequence of characters. `*` alone matches all tasks.
  public var echoedTasks: Set<String> = []
  /// The destination of echoes and log lines. Defaults to standard error.
  public var log = LogOutput.standardError
  /// Hides secrets in logs, recordings, errors and all other readable output.
  public var redaction = Redaction.standard
  /// The maximum size, in bytes, of response bodies in echoes and recordings. Defaults to 10 MiB.
  /// A placeholder replaces larger bodies.
  public var maxLoggedDownloadSize = 10 << 20
  /// The maximum size, in bytes, of request bodies in echoes and recordings. Defaults to 4 KiB.
  /// A placeholder replaces larger bodies.
  public var maxLoggedUploadSize = 4 << 10

  /// Creates the default settings.
  public init() {}

  /// Replaces the remote. If it has a user name or a fragment, throws ``TaskError`` with code `.badURL` and changes
  /// nothing.
  public mutating func setRemote(_ remote: Remote) throws {
    if let problem = remote.problem { throw problem }
    self.remote = remote
  }

  /// Pins a public key for a host. If a host has several keys, any of them is accepted; see ``PublicKeyPins``.
  ///
  /// - Parameters:
  ///   - publicKey: `sha256/` followed by the Base64-encoded hash of the key's `SubjectPublicKeyInfo`.
  ///   - host: The host; `*.example.com` matches names with exactly one more label.
  ///   - expiry: The date on which the pin expires. `nil` if it never does.
  public mutating func register(publicKey: String, for host: String, until expiry: Date? = nil) {
    pins.register(publicKey, for: host, until: expiry)
  }

  private static let sortingEncoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }()

  /// The default `User-Agent`, such as `AppName/1.0 Errand/0.1 (Linux)`. The app's name is that of the main bundle or
  /// the executable.
  public static let defaultUserAgent: String = {
    let (name, version) = program
    return userAgent(of: name, version: version)
  }()

  // RFC 9110 §10.1.5: products are tokens. A name without any token characters is omitted.
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
  /// Adds a per-call step before (outside) the step called `name`.
  /// Throws ``TaskError`` with code `.unknownStep` if there is no such step.
  public mutating func addStep(_ step: any PerCallStep, before name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps))
  }

  /// Adds a per-call step after (inside) the step called `name`.
  /// Throws ``TaskError`` with code `.unknownStep` if there is no such step.
  public mutating func addStep(_ step: any PerCallStep, after name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps) + 1)
  }

  /// Adds a per-attempt step before (outside) the step called `name`.
  /// Throws ``TaskError`` with code `.unknownStep` if there is no such step.
  public mutating func addStep(_ step: any PerAttemptStep, before name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps))
  }

  /// Adds a per-attempt step after (inside) the step called `name`.
  /// Throws ``TaskError`` with code `.unknownStep` if there is no such step.
  public mutating func addStep(_ step: any PerAttemptStep, after name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps) + 1)
  }

  private static func index(of name: String, in steps: [any Step]) throws -> Int {
    if let index = steps.firstIndex(where: { $0.name == name }) { return index }
    let known = steps.isEmpty ? "it has no steps" : "known steps: " + steps.map(\.name).joined(separator: ", ")
    throw TaskError(.unknownStep, "no step of this kind is named '\(name)'; \(known)", phase: .preparing)
  }
}
