public import Errand
public import ErrandFoundation

/// The route from a transport to the ``MockServer`` that answers it: direct, or through a server or proxy that others wrote.
///
/// An intermediary brings its own TLS, HTTP/2 and framing, which is what it is there for, and hides a part of what the
/// checks look at. A check that needs a hidden part is left out, by name: ``TransportConformance/omissions``.
///
///     let route = ConformanceRoute(preserves: [.target, .fieldOrder]) { mock in
///       let gateway = try await Gateway(to: mock.url)
///       return .init(transport: try MyTransport(), origin: gateway.url, intermediary: gateway)
///     }
///     let conformance = TransportConformance(over: route)
public struct ConformanceRoute: Sendable {
  /// Parts of an exchange that reach the other end as they were sent.
  public struct Traits: OptionSet, Sendable, Hashable {
    /// One bit a trait.
    public let rawValue: Int

    /// The traits of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The transport's connections end at the mock server, which counts, closes and resets them, and chooses each byte.
    public static let connections = Traits(rawValue: 1 << 0)
    /// Path and query, with their escapes and dot segments.
    public static let target = Traits(rawValue: 1 << 1)
    /// Any method, also one that the intermediary has a use for.
    public static let methods = Traits(rawValue: 1 << 2)
    /// The order of header fields.
    public static let fieldOrder = Traits(rawValue: 1 << 3)
    /// The statement of the length of a request's body, or its absence.
    public static let requestFraming = Traits(rawValue: 1 << 4)
    /// The expectation of a `100 Continue`.
    public static let expectations = Traits(rawValue: 1 << 5)
    /// The refusal of such an expectation.
    public static let refusals = Traits(rawValue: 1 << 6)
    /// An answer that comes while the request is being sent.
    public static let earlyAnswers = Traits(rawValue: 1 << 7)
    /// Interim responses before the final one.
    public static let interimResponses = Traits(rawValue: 1 << 8)
    /// A head that is sent before there is a body.
    public static let promptHeads = Traits(rawValue: 1 << 9)
    /// A response's body that breaks off, as one that does.
    public static let truncation = Traits(rawValue: 1 << 10)
    /// Fields after the body.
    public static let trailers = Traits(rawValue: 1 << 11)

    /// All of them: nothing stands between the two.
    public static let all = Traits(rawValue: (1 << 12) - 1)
  }

  /// A route that is open: what sends, and where to.
  public struct End: Sendable {
    let transport: any Transport
    let origin: URL
    let intermediary: (any Sendable)?

    /// A route's near end.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - origin: The scheme, host and port of all URLs, without a path.
    ///   - intermediary: Stays alive until the check has ended.
    public init(transport: any Transport, origin: URL, intermediary: (any Sendable)? = nil) {
      self.transport = transport
      self.origin = origin
      self.intermediary = intermediary
    }
  }

  /// The parts that reach the other end as they were sent.
  public let preserves: Traits
  let open: @Sendable (MockServer) async throws -> End

  /// A route.
  ///
  /// - Parameters:
  ///   - preserves: What reaches the other end as it was sent.
  ///   - open: Starts the intermediary and makes a transport with connections of its own, for each case. The intermediary
  ///     closes its own connections to the mock server once nothing is exchanged over them.
  public init(preserves: Traits, open: @escaping @Sendable (MockServer) async throws -> End) {
    self.preserves = preserves
    self.open = open
  }

  /// The route with nothing in between.
  public static func direct(_ make: @escaping @Sendable () throws -> any Transport) -> ConformanceRoute {
    ConformanceRoute(preserves: .all) { End(transport: try make(), origin: $0.url) }
  }
}
