import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Timeouts of in-memory and streamed bodies.
@Suite(.timeLimit(.minutes(1))) struct BodyLimitsTests {
  private struct Upload: ServerPUTTask {
    let size: Int
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .bytes(Data(count: size)) }
  }

  private static let stream = HTTPBody.stream { AsyncThrowingStream<Data, any Error> { $0.finish() } }

  @Test(arguments: [1000, 100 << 10]) func `an in-memory body keeps the attempt timeout if its progress is reported`(
    size: Int
  )
    async throws
  {
    let stub = StubServer(.status(.ok)) { $0.defaultTimeout = .seconds(7) }
    let counted = Shared<[Int64]>([])
    try await Upload(size: size).progress { progress in counted.withLock { $0.append(progress.completed) } }.on(
      stub.server
    )
    .run()
    let limits = try #require(stub.requests.first?.options.timeouts)
    #expect(limits.attempt == .seconds(7) && limits.firstByte == nil && limits.idle == nil)
    #expect(counted.withLock { !$0.isEmpty })
  }

  @Test func `a timeout error reports the configured timeout rather than the remaining time`() async throws {
    let shop = VirtualShop(
      configure: { ($0.defaultTimeout, $0.retryPolicy) = (.seconds(7), .never) },
      answer: { number, request, clock in
        clock.advance(by: .seconds(5))
        guard number > 1 else { return .status(307, headers: [.location: "/b"], for: request) }
        throw TaskError.timeout(
          .firstByte, after: request.options.timeouts.firstByte ?? .zero, phase: .awaitingResponse)
      })
    let error = await taskError { _ = try await shop.task().stream() }
    let words = "the time limit 'defaultTimeout' (for the response head) of 7.000 s was exceeded"
    #expect(error?.reason.hasPrefix(words) == true, "\(error?.reason ?? "")")
  }

  @Test func `a stream that replaces the body uses stream timeouts, even after redirects`() async throws {
    let seen = Shared<[Timeouts]>([])
    let shop = VirtualShop(
      configure: {
        $0.defaultTimeout = .seconds(7)
        $0.preflight = { $1.body = Self.stream }
      },
      answer: { number, request, clock in
        seen.withLock { $0.append(request.options.timeouts) }
        clock.advance(by: .seconds(1))
        return .status(number < 3 ? 307 : .ok, headers: number < 3 ? [.location: "/\(number)"] : [:], for: request)
      })
    try await Upload(size: 10).on(shop.server).run()
    let limits = seen.withLock { $0 }
    #expect(limits.count == 3)
    for limit in limits { #expect(limit.attempt == nil && limit.idle == .seconds(7), "\(limit)") }
  }
}
