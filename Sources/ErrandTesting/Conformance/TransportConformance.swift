public import Errand

/// The duties of every `Transport`, as checks against a ``MockServer``; it needs no test library.
///
///     let conformance = TransportConformance { try MyTransport() }
///
///     @Test(arguments: conformance.cases)
///     func conforms(_ check: TransportConformance.Case) async throws { try await check.run() }
///
/// The same checks run through servers and proxies that others wrote, see ``ConformanceRoute``. A transport that cannot do
/// something says so by leaving the case out, by its name, where everybody can read it.
public struct TransportConformance: Sendable {
  /// One thing that a transport must do.
  public struct Case: Sendable, CustomStringConvertible {
    private let check: Check
    private let route: ConformanceRoute

    init(_ check: Check, over route: ConformanceRoute) {
      self.check = check
      self.route = route
    }

    /// The requirement, as a sentence.
    public var name: String { check.name }

    /// The name.
    public var description: String { name }

    /// Checks it, with a transport and a server of its own.
    ///
    /// - Parameter limit: How long it may take: a transport that hangs fails, too.
    /// - Throws: ``Failure`` with what was expected and what came instead, or what the transport threw.
    public func run(limit: Duration = .seconds(120)) async throws {
      let server = try MockServer()
      let trial = ConformanceTrial(server: server, end: try await route.open(server), traits: route.preserves)
      try await Deadline(limit).run { try await check.run(trial) }
    }
  }

  /// A requirement that a transport does not meet.
  public struct Failure: Error, CustomStringConvertible {
    /// The expectation, and what came instead.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  /// A case, and what it needs of the route.
  struct Check: Sendable {
    let name: String
    let needs: ConformanceRoute.Traits
    let run: @Sendable (ConformanceTrial) async throws -> Void

    init(
      _ name: String, needs: ConformanceRoute.Traits = [],
      run: @escaping @Sendable (ConformanceTrial) async throws -> Void
    ) {
      self.name = name
      self.needs = needs
      self.run = run
    }
  }

  /// All cases that the route lets be checked.
  public let cases: [Case]
  /// The names of the others.
  public let omissions: [String]

  /// The suite for a transport that reaches the mock server directly.
  ///
  /// - Parameter make: Makes one with connections of its own, for each case.
  public init(make: @escaping @Sendable () throws -> any Transport) { self.init(over: .direct(make)) }

  /// The suite for the transport of a route.
  public init(over route: ConformanceRoute) {
    let checks =
      Self.messages + Self.bodiesUp + Self.bodiesDown + Self.failures + Self.timers + Self.cancellations
      + Self.connections
    cases = checks.filter { route.preserves.isSuperset(of: $0.needs) }.map { Case($0, over: route) }
    omissions = checks.filter { !route.preserves.isSuperset(of: $0.needs) }.map(\.name)
  }
}
