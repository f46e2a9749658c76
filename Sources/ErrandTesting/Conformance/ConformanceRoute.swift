public import Errand
public import ErrandFoundation

/// The route from a transport to its ``MockServer``: direct, or through a third-party server or proxy.
///
/// An intermediary tests the transport against its own TLS, HTTP/2 and framing, but hides some of the details that the
/// checks verify. Checks that depend on a hidden detail are skipped and listed in ``TransportConformance/omissions``.
///
///     let route = ConformanceRoute(preserves: [.target, .fieldOrder]) { mock in
///       let gateway = try await Gateway(to: mock.url)
///       return .init(transport: try MyTransport(), origin: gateway.url, intermediary: gateway)
///     }
///     let conformance = TransportConformance(over: route)
public struct ConformanceRoute: Sendable {
  /// The parts of an exchange that reach the other end unchanged.
  public struct Traits: OptionSet, Sendable, Hashable {
    /// The raw value, with one bit per trait.
    public let rawValue: Int

    /// Creates a set of traits from a raw value.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A direct connection to the mock server, which counts, closes and resets connections and controls every byte.
    public static let connections = Traits(rawValue: 1 << 0)
    /// The path and query, with escapes and dot segments.
    public static let target = Traits(rawValue: 1 << 1)
    /// Any method, even one that the intermediary could handle itself.
    public static let methods = Traits(rawValue: 1 << 2)
    /// The order of header fields.
    public static let fieldOrder = Traits(rawValue: 1 << 3)
    /// Whether a request body's length is present or absent.
    public static let requestFraming = Traits(rawValue: 1 << 4)
    /// `Expect: 100-continue` in a request.
    public static let expectations = Traits(rawValue: 1 << 5)
    /// The rejection of an `Expect: 100-continue`.
    public static let refusals = Traits(rawValue: 1 << 6)
    /// A response that arrives while the request is being sent.
    public static let earlyAnswers = Traits(rawValue: 1 << 7)
    /// Interim responses before the final one.
    public static let interimResponses = Traits(rawValue: 1 << 8)
    /// A response head that is sent before the body is available.
    public static let promptHeads = Traits(rawValue: 1 << 9)
    /// The truncation of a response body, so that it can still be detected.
    public static let truncation = Traits(rawValue: 1 << 10)
    /// Trailer fields.
    public static let trailers = Traits(rawValue: 1 << 11)

    /// All traits, as on a route without an intermediary.
    public static let all = Traits(rawValue: (1 << 12) - 1)
  }

  /// An open route: the transport, and the base URL for requests.
  public struct End: Sendable {
    let transport: any Transport
    let origin: URL
    let intermediary: (any Sendable)?

    /// Creates the near end of a route.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - origin: The scheme, host and port of all URLs, without a path.
    ///   - intermediary: An object that is retained until the check ends. Defaults to `nil`.
    public init(transport: any Transport, origin: URL, intermediary: (any Sendable)? = nil) {
      self.transport = transport
      self.origin = origin
      self.intermediary = intermediary
    }
  }

  /// The parts of an exchange that reach the other end unchanged.
  public let preserves: Traits
  let open: @Sendable (MockServer) async throws -> End

  /// Creates a route.
  ///
  /// - Parameters:
  ///   - preserves: The parts of an exchange that reach the other end unchanged.
  ///   - open: Starts the intermediary and creates a transport with its own connection pool. Called for each case. The
  ///     intermediary must close its idle connections to the mock server.
  public init(preserves: Traits, open: @escaping @Sendable (MockServer) async throws -> End) {
    self.preserves = preserves
    self.open = open
  }

  /// Creates a direct route without an intermediary.
  public static func direct(_ make: @escaping @Sendable () throws -> any Transport) -> ConformanceRoute {
    ConformanceRoute(preserves: .all) { End(transport: try make(), origin: $0.url) }
  }
}
