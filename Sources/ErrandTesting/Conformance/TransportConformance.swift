public import Errand

/// The requirements for every `Transport`, as checks against a ``MockServer``. Works with any test library.
///
///     let conformance = TransportConformance { try MyTransport() }
///
///     @Test(arguments: conformance.cases)
///     func conforms(_ check: TransportConformance.Case) async throws { try await check.run() }
///
/// The checks can also run through third-party servers and proxies; see ``ConformanceRoute``. If a transport does not
/// meet a requirement, exclude the corresponding case by name, so that the gap is visible.
public struct TransportConformance: Sendable {
  /// A requirement for a transport.
  public struct Case: Sendable, CustomStringConvertible {
    private let check: Check
    private let route: ConformanceRoute

    init(_ check: Check, over route: ConformanceRoute) {
      self.check = check
      self.route = route
    }

    /// The requirement, as a sentence.
    public var name: String { check.name }

    /// The same as ``name``.
    public var description: String { name }

    /// Runs the check with a new transport and server.
    ///
    /// - Parameter limit: The time limit, after which a transport that hangs fails the check. Defaults to 120 seconds.
    /// - Throws: ``Failure`` with the expected and actual results, or any error thrown by the transport.
    public func run(limit: Duration = .seconds(120)) async throws {
      let server = try MockServer()
      let trial = ConformanceTrial(server: server, end: try await route.open(server), traits: route.preserves)
      try await Deadline(limit).run { try await check.run(trial) }
    }
  }

  /// A requirement that a transport does not meet.
  public struct Failure: Error, CustomStringConvertible {
    /// The expected and actual results.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  /// A check, and the route traits that it requires.
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

  /// The cases that can be checked over the route.
  public let cases: [Case]
  /// The names of the cases that can't be checked over the route.
  public let omissions: [String]

  /// Creates the checks for a transport that connects to the mock server directly.
  ///
  /// - Parameter make: Creates a transport with its own connection pool. Called for each case.
  public init(make: @escaping @Sendable () throws -> any Transport) { self.init(over: .direct(make)) }

  /// Creates the checks for a route's transport.
  public init(over route: ConformanceRoute) {
    let checks =
      Self.messages + Self.bodiesUp + Self.bodiesDown + Self.failures + Self.timers + Self.cancellations
      + Self.connections
    cases = checks.filter { route.preserves.isSuperset(of: $0.needs) }.map { Case($0, over: route) }
    omissions = checks.filter { !route.preserves.isSuperset(of: $0.needs) }.map(\.name)
  }
}
