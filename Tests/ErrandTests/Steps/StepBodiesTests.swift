import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Bodies that steps read, keep or return.
@Suite(.timeLimit(.minutes(1))) struct StepBodiesTests {
  /// Turns a 404 into a 200.
  private struct Accepting: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      if response.status == .notFound { response.status = .ok }
      return response
    }
  }

  /// Reads every body, and records its size or `nil` if reading fails.
  private struct Reading: PerCallStep, PerAttemptStep {
    let sizes = Shared<[Int?]>([])
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      do {
        let size = try await response.body.collect().count
        sizes.withLock { $0.append(size) }
      } catch {
        sizes.withLock { $0.append(nil) }
        throw error
      }
      return response
    }
  }

  private struct Passing: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  enum Place: CaseIterable { case perCall, perCallOfSharedRequest, perAttempt }

  private func add(_ step: some PerCallStep & PerAttemptStep, _ place: Place, to settings: inout ServerConfiguration) {
    switch place {
    case .perCall, .perCallOfSharedRequest: settings.perCallSteps = [step]
    case .perAttempt: settings.perAttemptSteps = [step]
    }
  }

  /// A body that fails after its first chunk.
  private static func cutBody() -> HTTPResponseBody {
    let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    continuation.yield(Data("first".utf8))
    continuation.finish(throwing: TaskError(.truncatedBody, "cut", phase: .receiving))
    return HTTPResponseBody(StreamSource(stream))
  }

  @Test(arguments: Place.allCases) func `a step can't turn a cut error body into a complete one`(place: Place)
    async throws
  {
    let shop = VirtualShop {
      add(Accepting(), place, to: &$0)
      $0.coalescesRequests = place == .perCallOfSharedRequest
      $0.retryPolicy = .never
    } answer: { _, request, _ in
      HTTPResponse(.notFound, url: request.url, body: Self.cutBody())
    }
    #expect(await taskError { _ = try await shop.task().downloadData() }?.code == .truncatedBody)
    #expect(await taskError { _ = try await shop.task().stream().body.collect() }?.code == .truncatedBody)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      #expect(await taskError { _ = try await shop.task().download(to: file) }?.code == .truncatedBody)
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test func `a per-call step can't take the excerpt of a long error body for the entire body`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Accepting()]
      $0.maximumBodySize = 100
    } answer: { _, request, _ in
      HTTPResponse(.notFound, url: request.url, body: HTTPResponseBody(Data(count: 1000)))
    }
    #expect(await taskError { _ = try await shop.task().downloadData() }?.code == .bodyTooLarge)
  }

  @Test func `a step that reads a slow error body gets the timeout, and the call is retried`() async throws {
    let step = Reading()
    let shop = VirtualShop(.autoAdvancing) {
      $0.perAttemptSteps = [step]
      $0.timeouts.idle = .seconds(1)
    } answer: { number, request, clock in
      guard number == 1 else { return .text("whole", for: request) }
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("first".utf8))
      return HTTPResponse(.serviceUnavailable, url: request.url, body: HTTPResponseBody(StreamSource(stream)))
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file)
      #expect(try String(contentsOf: file, encoding: .utf8) == "whole")
    }
    #expect(shop.sentCount == 2 && step.sizes.withLock { $0 } == [nil, 5])
  }

  @Test func `accepts the largest size limits`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Passing()]
      ($0.maximumBodySize, $0.maximumErrorBodySize) = (.max, .max)
    } answer: { _, request, _ in
      .text("no such widget", status: 404, for: request)
    }
    #expect(await taskError { _ = try await shop.task().downloadData() }?.bodyText == "no such widget")
  }

  @Test func `cancelling a call leaves a response that a step returns to other calls unchanged`() async throws {
    let kept = HTTPResponse(url: .known("https://shop.test/kept"), body: HTTPResponseBody(Data(count: 10)))
    let shop = VirtualShop {
      $0.perCallSteps = [Recovery(from: .offline) { _, _ in kept }]
      $0.retryPolicy = .never
    } answer: { _, _, _ in
      throw TaskError(.offline, "offline", phase: .connecting, wasNotSent: true)
    }
    let first = try await shop.task().tagged("first").stream()
    let second = try await shop.task().stream()
    #expect(await shop.manager.cancel(tag: "first") == 1)
    await #expect(throws: CancellationError.self) { try await first.body.collect() }
    #expect(try await second.body.collect().count == 10)
    #expect(try await shop.task().downloadData().count == 10)
  }

  @Test(arguments: [true, false]) func `a per-call step can read the body of run(), with and without a cache`(
    hasCache: Bool
  ) async throws {
    let step = Reading()
    let shop = VirtualShop {
      $0.perCallSteps = [step]
      if hasCache { $0.cache = MemoryCache() }
    } answer: { _, request, _ in
      HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(Data(count: 2 << 20)))
    }
    for _ in 0..<2 { #expect(try await shop.task().run().status == .ok) }
    #expect(step.sizes.withLock { $0 } == [2 << 20, 2 << 20])
  }

  @Test func `a 304 leaves a current file unchanged if there is a per-call step`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Passing()]
    } answer: { _, request, _ in
      request.headers[.ifNoneMatch] == nil
        ? .text("content", [.eTag: "\"1\""], for: request)
        : .status(.notModified, headers: [.eTag: "\"1\""], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for _ in 0..<2 { _ = try await shop.task().download(to: file, when: .changed) }
      #expect(try String(contentsOf: file, encoding: .utf8) == "content" && shop.sentCount == 2)
    }
  }

  @Test func `a HEAD request to a file throws even if the response is cached`() async throws {
    let shop = VirtualShop {
      $0.cache = MemoryCache()
    } answer: { _, request, _ in
      .text("content", [.cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.task().downloadData()
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      #expect(await taskError { _ = try await shop.task(method: .head).download(to: file) }?.code == .badRequest)
    }
  }
}
