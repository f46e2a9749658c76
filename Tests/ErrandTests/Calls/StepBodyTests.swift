import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Bodies that a step reads before the call does.
@Suite(.timeLimit(.minutes(1))) struct StepBodyTests {
  /// Reads the first chunk of the body, or the entire body.
  private struct Reading: PerCallStep, PerAttemptStep {
    let isWhole: Bool

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      if isWhole {
        #expect(try await response.body.collect() == Data("[7]".utf8))
      } else {
        for try await _ in response.body { break }
      }
      return response
    }
  }

  @Test(arguments: [true, false], [true, false]) func `a typed call decodes a body that a step has read`(
    isPerCall: Bool, isWhole: Bool
  ) async throws {
    let shop = VirtualShop(
      configure: {
        let step = Reading(isWhole: isWhole)
        if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
      }, answer: { _, request, _ in .json("[7]", for: request) })
    let task = Endpoint<Void, [Int]>.get("widgets").on(shop.server)
    #expect(try await task.download() == [7])
  }

  /// Records the bodies that it reads.
  private struct Recording: PerCallStep, PerAttemptStep {
    let bodies: Shared<[Int]>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      let body = try await response.body.collect()
      bodies.withLock { $0.append(body.count) }
      return response
    }
  }

  @Test(arguments: [true, false], ["send", "run", "data"])
  func `a step can read the entire body, even if the caller discards it`(
    isPerCall: Bool, verb: String
  ) async throws {
    let bodies = Shared<[Int]>([])
    let stub = StubServer(.data(Data(count: 3000), .octetStream)) {
      let step = Recording(bodies: bodies)
      if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
      $0.maximumErrorBodySize = 1000
    }
    switch verb {
    case "send": try await stub.server.send(.post("order"))
    case "run": try await PlainTask().on(stub.server).run()
    default: #expect(try await stub.server.data(.get("widgets")).count == 3000)
    }
    #expect(bodies.withLock { $0 } == [3000])
  }

  @Test(arguments: [true, false])
  func `a step can read a long error body, and the error keeps the beginning of that body`(
    isPerCall: Bool
  ) async throws {
    let bodies = Shared<[Int]>([])
    let stub = StubServer(.data(Data(count: 3000), .octetStream, .serviceUnavailable)) {
      let step = Recording(bodies: bodies)
      if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
      $0.maximumErrorBodySize = 1000
      $0.retryPolicy = .fixed(retries: 2, delay: .zero)
    }
    let error = await taskError { _ = try await stub.server.data(.get("widgets")) }
    #expect(error?.status == 503 && error?.body.count == 1000 && stub.requests.count == 3)
    #expect(bodies.withLock { $0 } == Array(repeating: 3000, count: isPerCall ? 1 : 3))
  }

  /// Reads the first chunk of the first response.
  private struct Peek: PerCallStep, PerAttemptStep {
    let times = Counter()
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      times.add()
      if times.count == 1 { _ = try await response.body.next() }
      return response
    }
  }

  @Test(arguments: [true, false]) func `a call never returns a body without the chunk that a step has read`(
    isPerCall: Bool
  ) async throws {
    let shop = VirtualShop(
      configure: { if isPerCall { $0.perCallSteps = [Peek()] } else { $0.perAttemptSteps = [Peek()] } },
      answer: { _, request, _ in .json("[7]", for: request) })
    #expect(try await shop.task().data() == Data("[7]".utf8))
  }

  @Test(arguments: [nil, "5"]) func `the cache never returns a body without the chunk that a step has read`(
    length: String?
  ) async throws {
    let shop = CachedShop(
      configure: { $0.perAttemptSteps = [Peek()] },
      answer: { number, request in
        var headers: HTTPHeaders = [.cacheControl: "max-age=1000", .contentType: "text/plain"]
        if let length { headers[.contentLength] = length }
        return .text("whole", headers, for: request)
      })
    _ = try? await shop.get()
    let second = try await shop.get()
    #expect(second.text == "whole", "\(second) sent \(shop.sentCount)")
  }

  @Test(arguments: [nil, "12"]) func `the cache never returns a stream without the chunk that a step has read`(
    length: String?
  ) async throws {
    let shop = CachedShop(
      configure: { $0.perAttemptSteps = [Peek()] },
      answer: { number, request in
        var headers: HTTPHeaders = [.cacheControl: "max-age=1000", .contentType: "text/plain"]
        if let length { headers[.contentLength] = length }
        return HTTPResponse(
          url: request.url, headers: headers, body: HTTPResponseBody(ScriptedBody(["first ", "second"], .ends)))
      })
    #expect(await taskError { _ = try await shop.task().stream() }?.code == .bodyConsumed)
    let second = try await shop.get()
    #expect(second.text == "first second", "\(second) sent \(shop.sentCount)")
  }

  private struct Canned: PerAttemptStep {
    let response: HTTPResponse
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { response }
  }

  @Test func `a step can return the same response to two calls that read it concurrently`() async throws {
    let canned = HTTPResponse(url: .known("https://shop.test/file"), body: HTTPResponseBody(Data("[7]".utf8)))
    let shop = VirtualShop(
      configure: { $0.perAttemptSteps = [Canned(response: canned)] },
      answer: { _, request, _ in .ok(request) })
    let response = try await shop.task().stream()
    for try await _ in response.body {
      #expect(try await shop.task().data() == Data("[7]".utf8))
    }
  }

  private struct ReadsErrors: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      _ = try? await response.body.collect()
      return response
    }
  }

  @Test(arguments: [false, true]) func `retries a 503 whose body a step has read`(hasStep: Bool) async throws {
    let shop = VirtualShop(
      configure: {
        if hasStep { $0.perAttemptSteps = [ReadsErrors()] }
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
        $0.maximumErrorBodySize = 10
      },
      answer: { number, request, _ in
        number == 1
          ? .text(String(repeating: "x", count: 50), status: 503, for: request) : .text("fine", for: request)
      })
    let result = await Task { try await shop.task().data() }.result
    #expect((try? result.get()) == Data("fine".utf8) && shop.sentCount == 2, "\(result)")
  }

  @Test(arguments: [false, true], [5, 50])
  func `an error keeps up to maximumErrorBodySize bytes of a body that a step has read`(hasStep: Bool, size: Int)
    async throws
  {
    let shop = VirtualShop(
      configure: {
        if hasStep { $0.perAttemptSteps = [ReadsErrors()] }
        $0.retryPolicy = .never
        $0.maximumErrorBodySize = 10
      },
      answer: { _, request, _ in .text(String(repeating: "x", count: size), status: 404, for: request) })
    let error = await taskError { _ = try await shop.task().data() }
    #expect(error?.body.count == min(size, 10), "\(error?.body.count as Any)")
  }
}
