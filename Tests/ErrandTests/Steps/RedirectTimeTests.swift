import Errand
import ErrandTesting
import Foundation
import Testing

/// Timeouts and retries of redirected attempts.
@Suite(.timeLimit(.minutes(1))) struct RedirectTimeTests {
  private static func to(_ location: String, _ status: HTTPStatus = 302) -> StubLog.Answer {
    .status(status, [.location: location])
  }

  @Test func `redirects share the attempt's timeout, which excludes time spent in the policy`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop(configure: { $0.defaultTimeout = .seconds(30) }) { number, request, clock in
      limits.withLock { $0.append(request.options.timeouts.attempt) }
      clock.advance(by: .seconds(10))
      return number < 4 ? .status(302, headers: ["Location": "/\(number)"], for: request) : .ok(request)
    }
    let policy = RedirectPolicy.decide { [clock = shop.clock] _, next in
      clock.advance(by: .seconds(100))
      return next
    }
    let error = try #require(await taskError { try await shop.task().redirects(policy).retry(.never).run() })
    #expect(limits.withLock { $0 } == [.seconds(30), .seconds(20), .seconds(10)])
    #expect(error.timer == .attempt && error.limit == .seconds(30) && !error.wasNotSent && shop.sentCount == 3)
    #expect(error.attempts.map(\.duration) == [.seconds(30)])
  }

  @Test func `reports the attempt's full limit when a redirected request times out`() async throws {
    let shop = VirtualShop { number, request, clock in
      clock.advance(by: .seconds(10))
      if number == 1 { return .status(302, headers: ["Location": "/b"], for: request) }
      throw TaskError.timeout(.attempt, after: request.options.timeouts.attempt ?? .zero, phase: .awaitingResponse)
    }
    let error = try #require(await taskError { try await shop.task().timeout(.seconds(30)).retry(.never).run() })
    #expect(error.timer == .attempt && error.limit == .seconds(30))
    let late = try #require(
      await taskError { try await shop.task().deadline(.seconds(15)).timeout(.seconds(30)).retry(.never).run() })
    #expect(late.timer == .attempt || late.timer == .call)
  }

  @Test func `redirects do not extend the time to a stream's head`() async throws {
    let shop = VirtualShop { number, request, clock in
      clock.advance(by: .seconds(15))
      return .status(302, headers: ["Location": "/\(number)"], for: request)
    }
    let error = try #require(await taskError { _ = try await shop.task().retry(.never).stream() })
    #expect(error.timer == .firstByte && shop.sentCount == 3, "10 s to connect plus 30 s to the first byte")
  }

  @Test func `a retry starts at the original URL`() async throws {
    let stub = StubServer(Self.to("/b"), .status(503), Self.to("/c"), .status(.ok))
    let result = try await URLTask(.known("https://shop.test/a")).on(stub.server).response()
    #expect(stub.requests.map(\.url.path) == ["/a", "/b", "/a", "/c"] && result.attempts.map(\.status) == [503, 200])
    #expect(result.response.redirects.map(\.url.path) == ["/a"])
  }

  @Test func `retries a GET but not a POST if the redirect's target is unreachable`() async throws {
    let stub = StubServer(Self.to("https://gone.test/", 307), .refused) { $0.waitsForConnectivity = true }
    let error = try #require(await taskError { try await AddWidget().on(stub.server).upload() })
    #expect(error.code == .cannotConnect && !error.wasNotSent && stub.requests.count == 2)
    let get = StubServer(Self.to("https://gone.test/"), .refused, Self.to("/b"), .status(.ok))
    #expect(try await PlainTask().on(get.server).run().url.path == "/b", "a GET can be resent")
  }

  @Test func `does not resend a POST if the redirect policy throws a connection error`() async throws {
    let refused = TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)
    let stub = StubServer(Self.to("/b", 303)) {
      $0.waitsForConnectivity = true
      $0.redirectPolicy = .decide { _, _ in throw refused }
    }
    let error = try #require(await taskError { try await AddWidget().on(stub.server).upload() })
    #expect(error.code == .cannotConnect && !error.wasNotSent && stub.requests.count == 1)
  }

  @Test func `keeps a redirected request's timings and leaves another call's timeout unchanged`() async throws {
    let shop = VirtualShop { number, request, _ in
      if number == 1 { return .status(302, headers: ["Location": "/b"], for: request) }
      var error = TaskError.timeout(.attempt, after: .seconds(2), phase: .awaitingResponse)
      error.timings = TransferTimings()
      throw error
    }
    let error = try #require(await taskError { try await shop.task().timeout(.seconds(30)).retry(.never).run() })
    #expect(error.limit == .seconds(30) && error.attempts.first?.timings != nil)
    let other = VirtualShop { number, request, _ in
      if number == 1 { return .status(302, headers: ["Location": "/b"], for: request) }
      var error = TaskError.timeout(.attempt, after: .seconds(2), phase: .awaitingResponse)
      error.url = "https://other.test"
      throw error
    }
    let foreign = try #require(await taskError { try await other.task().timeout(.seconds(30)).retry(.never).run() })
    #expect(foreign.limit == .seconds(2))
  }

  @Test func `resends the body unchanged on a 308`() async throws {
    let stub = StubServer(Self.to("/b", 308), .widget)
    _ = try await AddWidget().on(stub.server).download()
    #expect(stub.requests.map(\.method) == [.post, .post])
    #expect(stub.requests.map { $0.body.data } == Array(repeating: stub.requests.first?.body.data, count: 2))
    #expect(stub.requests.map { $0.headers[.contentType] } == ["application/json", "application/json"])
  }

  @Test func `rejects a redirect to a plain HTTP host that is not in insecureHosts`() async throws {
    let stub = StubServer(Self.to("http://other.test/"), remote: "http://localhost")
    let error = try #require(await taskError { try await PlainTask().on(stub.server).run() })
    #expect(error.code == .insecureScheme && !error.wasNotSent && stub.requests.count == 1)
  }

  @Test func `a request resent by a step has the full timeout for its redirects`()
    async throws
  {
    struct Again: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        return response.status == 401 ? try await next(request) : response
      }
    }
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop(
      configure: { configuration in
        configuration.defaultTimeout = .seconds(30)
        configuration.perAttemptSteps = [Again()]
      },
      answer: { number, request, clock in
        limits.withLock { $0.append(request.options.timeouts.attempt) }
        clock.advance(by: .seconds(10))
        if number % 2 == 1 { return .status(302, headers: ["Location": "/b"], for: request) }
        return number == 2 ? .status(401, for: request) : .ok(request)
      })
    let response = try await shop.task().retry(.never).run()
    #expect(limits.withLock { $0 } == [.seconds(30), .seconds(20), .seconds(30), .seconds(20)])
    #expect(response.record.attempts.map(\.duration) == [.seconds(40)])
  }
}
