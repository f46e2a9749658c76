import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The stream permits of uploads whose bodies are produced while they are sent.
@Suite(.timeLimit(.minutes(1))) struct StreamPermitTests {
  private struct MadeDownload: ServerPOSTTask, PayloadDownloadingTask {
    typealias DownloadPayload = String
    var server: Server
    let path = "outer"
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .stream {
        AsyncStream<Data> {
          $0.yield(Data("x".utf8))
          $0.finish()
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `releases an upload's permit when its call returns, even if the response is still referenced`(hasDeadline: Bool)
    async throws
  {
    let shop = VirtualShop(limits: ThrottleLimits(streamsPerHost: 1)) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .text("fine", for: request)
    }
    let task = MadeDownload(server: shop.server)
    let response = hasDeadline ? try await task.deadline(.seconds(100)).response() : try await task.response()
    #expect(shop.manager.throttle.streams == 0)
    let ended = await finishes { _ = try await MadeDownload(server: shop.server).response() }
    #expect(ended, "a second upload never starts")
    withExtendedLifetime(response) {}
  }

  /// Reasons to resend an upload.
  enum Again: CaseIterable { case redirect, retry, refresh, digest }

  @Test(arguments: Again.allCases, [false, true]) func `an upload that is resent does not wait for its own permit`(
    again: Again, hasDeadline: Bool
  ) async throws {
    let shop = VirtualShop(
      .manual, limits: ThrottleLimits(streamsPerHost: 1),
      configure: {
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
        if again == .refresh {
          let count = Counter()
          $0.authentication = .bearer {
            count.add()
            return "token\(count.count)"
          }
        }
      }
    ) { number, request, _ in
      try await request.body.forEachChunk { _ in }
      guard number == 1 else { return .text("fine", for: request) }
      switch again {
      case .redirect: return .status(307, headers: [.location: "/b"], for: request)
      case .retry: return .unavailable(request)
      case .refresh: return .status(401, for: request)
      case .digest:
        return .status(
          401, headers: [.wwwAuthenticate: "Digest realm=\"a\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"],
          for: request)
      }
    }
    let ended = await finishes {
      var task = MadeDownload(server: shop.server).accepting(.any).idempotency(.safeToRepeat)
      if hasDeadline { task = task.deadline(.seconds(1000)) }
      let response = try await task.response()
      _ = response
    }
    #expect(ended && shop.sentCount == (again == .digest ? 1 : 2), "ended \(ended), sent \(shop.sentCount)")
  }

  private struct FirstOfTwo: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let one = try await next(request)
      _ = try await next(request)
      return one
    }
  }

  @Test(arguments: [false, true]) func `a step can send an upload twice with one permit`(hasDeadline: Bool) async throws
  {
    let shop = VirtualShop(
      limits: ThrottleLimits(streamsPerHost: 1), configure: { $0.perAttemptSteps = [FirstOfTwo()] }
    ) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .text("fine", for: request)
    }
    let ended = await finishes {
      let task = MadeDownload(server: shop.server)
      _ = hasDeadline ? try await task.deadline(.seconds(100)).response() : try await task.response()
    }
    #expect(ended && shop.sentCount == 2)
  }
}
