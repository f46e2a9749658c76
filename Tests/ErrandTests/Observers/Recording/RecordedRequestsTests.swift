import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Recordings of attempts in which a step sends several requests.
@Suite(.timeLimit(.minutes(1))) struct RecordedRequestsTests {
  /// Resends after a failure or a 401, or throws if `isGivingUp` is set.
  private struct Renewal: PerAttemptStep {
    var isGivingUp = false

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let first = try? await next(request)
      if let first, first.status != .unauthorized { return first }
      if isGivingUp { throw TaskError(.badResponse, "there is no new token", phase: .preparing) }
      return try await next(request)
    }
  }

  /// Throws without sending.
  private struct Refusal: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      throw TaskError(.badResponse, "nothing goes out", phase: .preparing)
    }
  }

  /// Records a call that uses `step`. Returns the text and the index entry.
  private func recorded(
    _ answers: StubLog.Answer..., through step: any PerAttemptStep = Renewal(), retries: RetryPolicy = .never
  ) async throws -> (text: String, entry: RecordingEntry) {
    try await withFolder { folder in
      let log = StubLog(answers)
      var configuration = ServerConfiguration()
      configuration.perAttemptSteps = [step]
      let manager = TaskManager(clock: CallClock(ManualClock(.autoAdvancing)))
      let server = Server(
        "https://shop.test", configuration: configuration, transport: StubTransport { try log.answer($0) },
        manager: manager, environment: [:])
      try await manager.recordTaskPath(to: folder)
      _ = try? await GetWidget().on(server).retry(retries).run()  // the recording says how the call ended
      await manager.endTaskPathRecording()
      let index = RecordingIndex(try Data(contentsOf: folder.appendingPathComponent("index.json")))
      let entry = try #require(index.entries.first)
      let text = try String(contentsOf: folder.appendingPathComponent(entry.file), encoding: .utf8)
      return (text, entry)
    }
  }

  @Test func `each request of an attempt has its own response`() async throws {
    let (text, entry) = try await recorded(.status(.unauthorized, ["X-Mine": "first"]), .widget)
    #expect(text.contains("\nRequest 1 of 2, attempt 1\n") && text.contains("\nRequest 2 of 2, attempt 1\n"), "\(text)")
    #expect(text.contains("\n401 Unauthorized\nX-Mine: first\n"), "\(text)")
    #expect(text.contains("\n200 OK after ") && text.contains("Sprocket"), "\(text)")
    #expect(!text.contains("No response") && !text.contains("cancelled"), "\(text)")
    #expect(entry.attempts == 1 && entry.status == 200)
  }

  @Test func `records the reason for a failed request even if the attempt sent another request`() async throws {
    let (text, entry) = try await recorded(.lost, .widget)
    #expect(text.contains("\nNo response: lost\n") && text.contains("\n200 OK after "), "\(text)")
    #expect(!text.contains("cancelled"), "\(text)")
    #expect(entry.attempts == 1)
  }

  @Test func `shows a response even if a step threw afterwards`() async throws {
    let (text, entry) = try await recorded(.status(.unauthorized), through: Renewal(isGivingUp: true))
    #expect(text.contains("\n401 Unauthorized after ") && !text.contains("No response"), "\(text)")
    #expect(text.contains("\nthere is no new token\n"), "\(text)")
    #expect(entry.attempts == 1 && entry.status == 401)
  }

  @Test func `the index counts attempts, and the recording numbers requests`() async throws {
    let (text, entry) = try await recorded(
      .status(.serviceUnavailable), .status(.unauthorized), .widget, retries: .attempts(2))
    #expect(text.contains("\nRequest 1 of 3, attempt 1\n") && text.contains("\nRequest 3 of 3, attempt 2\n"), "\(text)")
    #expect(entry.attempts == 2)
  }

  @Test func `the index counts an attempt that a step rejected`() async throws {
    let (text, entry) = try await recorded(.widget, through: Refusal())
    #expect(text.contains("nothing goes out"), "\(text)")
    #expect(entry.attempts == 1)
  }
}
