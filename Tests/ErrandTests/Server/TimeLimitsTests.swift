import Errand
import ErrandTesting
import Foundation
import Testing

/// The timeouts passed to the transport.
@Suite(.timeLimit(.minutes(1))) struct TimeLimitsTests {
  private static var parts: [WritableKeyPath<Timeouts, Duration?>] {
    [\.queue, \.connect, \.firstByte, \.idle, \.attempt, \.call]
  }
  private static let ofServer = Timeouts(
    queue: .seconds(1), connect: .seconds(2), firstByte: .seconds(3), idle: .seconds(4), attempt: .seconds(5),
    call: .seconds(6))

  /// Returns the timeouts that the transport receives for an in-memory or a streamed body.
  private func reported(
    _ task: Timeouts = Timeouts(), timeout: Duration = .inherited, isStream: Bool,
    configure: (inout ServerConfiguration) -> Void
  ) async throws -> Timeouts {
    // The clock must not advance, because the deadline determines one of the timeouts.
    let stub = StubServer(.status(.ok), clock: .manual) {
      $0.timeouts = Timeouts()
      configure(&$0)
    }
    let call = PlainTask().on(stub.server).timeouts(task).timeout(timeout).timeouts(task)
    if isStream { try await call.stream().body.cancel() } else { try await call.run() }
    return try #require(stub.requests.first).options.timeouts
  }

  @Test(arguments: [true, false]) func `each of a task's timeouts overrides the server's`(
    isStream: Bool
  ) async throws {
    #expect(try await reported(isStream: isStream) { $0.timeouts = Self.ofServer } == Self.ofServer)
    for (part, seconds) in zip(Self.parts, [11, 1, 2, 3, 4, 16]) {
      var (own, expected) = (Timeouts(), Self.ofServer)
      own[keyPath: part] = .seconds(seconds)
      expected[keyPath: part] = .seconds(seconds)
      #expect(try await reported(own, isStream: isStream) { $0.timeouts = Self.ofServer } == expected, "\(part)")
    }
  }

  @Test(arguments: [true, false]) func `treats an unlimited timeout of a server or task as no timeout`(isStream: Bool)
    async throws
  {
    for part in Self.parts {
      var (own, expected) = (Timeouts(), Self.ofServer)
      own[keyPath: part] = .unlimited
      expected[keyPath: part] = nil
      // An attempt with an in-memory body is limited by the call's remaining time.
      if part == \.attempt, !isStream { expected.attempt = Self.ofServer.call }
      let limits = try await reported(own, isStream: isStream) {
        ($0.timeouts, $0.defaultTimeout) = (Self.ofServer, .unlimited)
      }
      #expect(limits == expected, "\(part)")
    }
    let none = Timeouts()
    #expect(try await reported(isStream: isStream) { $0.defaultTimeout = .unlimited } == none)
    #expect(try await reported(timeout: .unlimited, isStream: isStream) { _ in } == none)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a timeout of zero or less throws .badLimit with the timeout's name`(
    limit: Duration
  ) async throws {
    for (part, name) in zip(Self.parts, ["queue", "connect", "firstByte", "idle", "attempt"]) {
      var own = Timeouts()
      own[keyPath: part] = limit
      for (task, server) in [(own, Timeouts()), (Timeouts(), own)] {
        let error = await #expect(throws: TaskError.self) {
          _ = try await reported(task, isStream: false) { $0.timeouts = server }
        }
        #expect(error?.code == .badLimit && error?.reason.contains("timeouts.\(name) is") == true, "\(name): \(limit)")
      }
    }
  }

  @Test func `the task's timeout or the server's default timeout limits the attempt`() async throws {
    #expect(try await reported(isStream: false) { $0.defaultTimeout = .seconds(7) } == Timeouts(attempt: .seconds(7)))
    let own = try await reported(timeout: .seconds(8), isStream: false) { $0.defaultTimeout = .seconds(7) }
    #expect(own == Timeouts(attempt: .seconds(8)))
    // The shorter of the task's two limits applies.
    let both = try await reported(Timeouts(attempt: .seconds(3)), timeout: .seconds(8), isStream: false) { _ in }
    #expect(both == Timeouts(attempt: .seconds(3)))
  }

  @Test func `for a stream, the timeout limits the time to the head and the idle time of the body`() async throws {
    func all(_ seconds: Int) -> Timeouts {
      Timeouts(connect: .seconds(seconds), firstByte: .seconds(seconds), idle: .seconds(seconds))
    }
    #expect(try await reported(isStream: true) { $0.defaultTimeout = .seconds(7) } == all(7))
    #expect(try await reported(timeout: .seconds(8), isStream: true) { $0.defaultTimeout = .seconds(7) } == all(8))
    let long = Timeouts(connect: .seconds(70), firstByte: .seconds(70), idle: .seconds(70))
    let merged = try await reported(isStream: true) { ($0.timeouts, $0.defaultTimeout) = (long, .seconds(7)) }
    var explicit = long
    explicit.connect = .seconds(7)
    #expect(merged == explicit, "explicit limits override the default")
    let own = try await reported(long, timeout: .seconds(8), isStream: true) { $0.defaultTimeout = .seconds(7) }
    #expect(own == long, "the task's own limits override its timeout")
    var expected = all(8)
    expected.idle = .seconds(70)
    let mixed = try await reported(timeout: .seconds(8), isStream: true) { $0.timeouts = long }
    #expect(mixed == expected, "the task's timeout overrides the server's limits for the head")
  }
}
