import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The file of a download and the body of a stream belong to their call, even if a step keeps the response.
@Suite(.timeLimit(.minutes(1))) struct ClosedBodyTests {
  /// Keeps every response, then does something else.
  private struct Keeping: PerCallStep, PerAttemptStep {
    enum Then: CaseIterable { case throwing, replacing, refusing, wrapping }

    private static let rejected = TaskError(.connectionLost, "rejected", phase: .receiving)

    let kept = Shared<[HTTPResponse]>([])
    let then: Then

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      kept.withLock { $0.append(response) }
      switch then {
      case .throwing: throw Self.rejected
      case .replacing: return .text("other", for: request)
      case .refusing: response.status = .notFound
      case .wrapping:
        response.body = HTTPResponseBody(StreamSource(AsyncThrowingStream { throw Self.rejected }))
      }
      return response
    }
  }

  private func shop(
    _ step: Keeping, isPerCall: Bool, limits: ThrottleLimits = ThrottleLimits(),
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> VirtualShop {
    VirtualShop(limits: limits) {
      $0.retryPolicy = .never
      if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
      configure(&$0)
    } answer: { _, request, _ in
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("content".utf8))
      if request.url.path() == "/widgets" { continuation.finish() }  // otherwise, the body never ends
      return HTTPResponse(url: request.url, body: HTTPResponseBody(StreamSource(stream)))
    }
  }

  @Test(arguments: [true, false]) func `a failed call closes its stream`(isPerCall: Bool) async throws {
    let step = Keeping(then: .throwing)
    let shop = shop(step, isPerCall: isPerCall, limits: ThrottleLimits(streamsPerHost: 1))
    for count in 1...2 {
      let ended = await finishes {
        #expect(await taskError { _ = try await shop.task("endless").stream() }?.code == .connectionLost)
      }
      #expect(ended && step.kept.withLock { $0.count } == count)
      #expect(shop.manager.throttle.streams == 0 && shop.events.isBalanced)
    }
  }

  @Test func `a retry does not wait for the stream of the failed attempt`() async throws {
    let step = Keeping(then: .throwing)
    let shop = shop(step, isPerCall: false, limits: ThrottleLimits(streamsPerHost: 1)) {
      $0.retryPolicy = .decided { $0.attempts.count < 3 ? .retry(after: .zero) : .giveUp }
    }
    let ended = await finishes {
      #expect(await taskError { _ = try await shop.task("endless").stream() }?.code == .connectionLost)
    }
    #expect(ended && shop.sentCount == 3)
  }

  @Test(arguments: [true, false], Keeping.Then.allCases)
  private func `a download removes the file that a step does not return`(
    isPerCall: Bool, then: Keeping.Then
  ) async throws {
    let step = Keeping(then: then)
    let shop = shop(step, isPerCall: isPerCall)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let response = try? await shop.task().download(to: file)
      #expect((response == nil) == (then != .replacing))
      let left = try files(in: folder)
      #expect(left == (then == .replacing ? ["file"] : []))
      #expect(step.kept.withLock { $0.count } == 1)
    }
  }

  @Test func `a stream that a step replaces releases its permit`() async throws {
    struct Replacing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        let (other, _) = AsyncThrowingStream<Data, any Error>.makeStream()
        return HTTPResponse(url: response.url, body: HTTPResponseBody(StreamSource(other)))
      }
    }
    let shop = VirtualShop(limits: ThrottleLimits(streamsPerHost: 1)) {
      $0.perAttemptSteps = [Replacing()]
    } answer: { _, request, _ in
      let (stream, _) = AsyncThrowingStream<Data, any Error>.makeStream()
      return HTTPResponse(url: request.url, body: HTTPResponseBody(StreamSource(stream)))
    }
    let first = try await shop.task().stream()
    #expect(shop.manager.throttle.streams == 0)
    let ended = await finishes { _ = try await shop.task().stream() }
    #expect(ended)
    first.body.cancel()
  }

  @Test func `a step that polls keeps one file at a time`() async throws {
    struct Polling: PerAttemptStep {
      let folder: URL
      let most: Shared<Int>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        while true {
          let response = try await next(request)
          let count = try files(in: folder).count
          most.withLock { $0 = max($0, count) }
          if response.headers["X-State"] == "ready" { return response }
        }
      }
    }
    let most = Shared(0)
    try await withFolder { folder in
      let shop = VirtualShop {
        $0.perAttemptSteps = [Polling(folder: folder, most: most)]
      } answer: { number, request, _ in
        .text("\(number)", ["X-State": number == 20 ? "ready" : "waiting"], for: request)
      }
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file)
      #expect(try String(contentsOf: file, encoding: .utf8) == "20")
      #expect(most.withLock { $0 } <= 2)
    }
  }

  @Test func `a kept download can't be read after its call`() async throws {
    let kept = Shared<HTTPResponse?>(nil)
    struct Noting: PerCallStep {
      let kept: Shared<HTTPResponse?>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        kept.withLock { $0 = response }
        return response
      }
    }
    let read = Shared<[Data]>([])
    let shop = VirtualShop {
      $0.perCallSteps = [Noting(kept: kept)]
      $0.postflight = { _, response in
        let body = try await response.body.collect()
        read.withLock { $0.append(body) }
      }
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let response = try await shop.task().download(to: file).response
      #expect(read.withLock { $0 } == [Data("content".utf8)], "a hook can read the file")
      let kept = try #require(kept.withLock { $0 })
      for response in [response, kept] {
        let error = await taskError { _ = try await response.body.collect() }
        #expect(error?.code == .bodyConsumed && error?.reason.contains("7 bytes") == true)
      }
    }
  }
}
