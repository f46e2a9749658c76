public import Errand

/// What every ``Transport`` must do, as checks that it runs against a ``MockServer``; it needs no test library.
///
///     let conformance = TransportConformance { try MyTransport() }
///
///     @Test(arguments: conformance.cases)
///     func conforms(_ check: TransportConformance.Case) async throws { try await check.run() }
///
/// A transport that cannot do something says so by leaving the case out, by its name, where everybody can read it.
public struct TransportConformance: Sendable {
  /// One thing that a transport must do.
  public struct Case: Sendable, CustomStringConvertible {
    /// What it must do, as a sentence.
    public let name: String
    private let make: @Sendable () throws -> any Transport
    private let check: @Sendable (ConformanceTrial) async throws -> Void

    init(
      _ name: String, _ make: @escaping @Sendable () throws -> any Transport,
      _ check: @escaping @Sendable (ConformanceTrial) async throws -> Void
    ) {
      self.name = name
      self.make = make
      self.check = check
    }

    /// The name.
    public var description: String { name }

    /// Checks it, with a transport and a server of its own.
    ///
    /// - Parameter limit: How long it may take: a transport that hangs fails, too.
    /// - Throws: ``Failure`` with what was expected and what came instead, or what the transport threw.
    public func run(limit: Duration = .seconds(120)) async throws {
      let trial = ConformanceTrial(server: try MockServer(), transport: try make())
      try await Deadline(limit).run { try await check(trial) }
    }
  }

  /// What a transport did not do.
  public struct Failure: Error, CustomStringConvertible {
    /// What was expected, and what came instead.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  typealias Check = (name: String, run: @Sendable (ConformanceTrial) async throws -> Void)

  /// All cases.
  public let cases: [Case]

  /// The suite for a transport.
  ///
  /// - Parameter make: Makes one with connections of its own, for each case.
  public init(make: @escaping @Sendable () throws -> any Transport) {
    let checks =
      Self.messages + Self.bodiesUp + Self.bodiesDown + Self.failures + Self.timers + Self.cancellations
      + Self.connections
    cases = checks.map { Case($0.name, make, $0.run) }
  }
}
