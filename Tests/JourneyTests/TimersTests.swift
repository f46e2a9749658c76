import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct TimersTests {
  private static let short = Duration.milliseconds(400)

  private func error(_ timeouts: Timeouts, _ answer: MockAnswer, body: HTTPBody = .empty) async throws -> TaskError {
    let shop = try Shop { $0.timeouts = timeouts }
    shop.mock.enqueue(answer)
    let method = body.isEmpty ? HTTPMethod.get : .put
    let task = URLTask(shop.url("plain"), method: method, body: body).on(shop.server).retry(.never)
    let error = await #expect(throws: TaskError.self) { try await task.run() }
    try await shop.mock.waitForOpenConnections(0)
    #expect(shop.isQuiet)
    return try #require(error)
  }

  @Test func `a server that never responds triggers the firstByte timeout`() async throws {
    let error = try await error(Timeouts(firstByte: Self.short), .hang)
    #expect(error.timer == .firstByte && error.limit == Self.short && error.phase == .awaitingResponse)
    #expect(error.isTimeout && !error.wasNotSent)
    #expect(
      error.description.contains(
        "the time limit 'timeouts.firstByte' of 0.400 s was exceeded while waiting for the response"), "\(error)")
  }

  @Test(arguments: [HTTPBody.text("x"), .bytes(Data(count: 100_000)), .stream { AsyncStream { $0.finish() } }])
  func `a server that reads the body but never responds triggers the firstByte timeout`(body: HTTPBody)
    async throws
  {
    // The attempt timeout would apply while the body is still being sent.
    let error = try await error(Timeouts(firstByte: Self.short, attempt: .seconds(120)), .hang, body: body)
    #expect(error.timer == .firstByte && error.phase == .awaitingResponse, "\(error)")
  }

  @Test func `a body that stalls triggers the idle timeout`() async throws {
    let error = try await error(Timeouts(idle: Self.short), .text("0123456789").bodyAfter(.seconds(3600)))
    #expect(error.timer == .idle && error.phase == .receiving)
  }

  @Test func `an attempt that takes too long triggers the attempt timeout`() async throws {
    let error = try await error(Timeouts(attempt: Self.short), .hang)
    #expect(error.timer == .attempt)
  }

  @Test func `a call that takes too long triggers the call timeout`() async throws {
    let error = try await error(Timeouts(call: Self.short), .hang)
    #expect(error.timer == .call)
  }

  @Test func `a slow but steady body does not trigger the idle timeout`() async throws {
    let shop = try Shop { $0.timeouts = Timeouts(idle: .seconds(1)) }
    shop.mock.enqueue(.data(Data(count: 60)).throttled(bytes: 1, every: .milliseconds(20)))
    #expect(try await PlainTask().on(shop.server).downloadData().count == 60)
  }
}
