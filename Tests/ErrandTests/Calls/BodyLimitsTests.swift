import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The time limits of bodies that something else than the task has made.
@Suite struct BodyLimitsTests {
  private struct Upload: ServerPUTTask {
    let size: Int
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .bytes(Data(count: size)) }
  }

  private static let stream = HTTPBody.stream { AsyncThrowingStream<Data, any Error> { $0.finish() } }

  @Test(arguments: [1000, 100 << 10]) func `a body in memory that is counted keeps the limit of an attempt`(size: Int)
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

  @Test func `a stream that takes the place of a body has the limits of a stream in every hop`() async throws {
    let stub = StubServer(.status(307, [.location: "/b"]), .status(308, [.location: "/c"]), .status(.ok)) {
      $0.defaultTimeout = .seconds(7)
      $0.preflight = { $1.body = Self.stream }
    }
    try await Upload(size: 10).on(stub.server).run()
    #expect(stub.requests.count == 3)
    for request in stub.requests {
      #expect(request.options.timeouts.attempt == nil && request.options.timeouts.firstByte == .seconds(7))
    }
  }
}
