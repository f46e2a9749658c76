import Errand
import ErrandTesting
import Foundation
import Testing

/// Steps and bodies hold no slot while they wait for calls that they make.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct WaitingStepsTests {
  private static let tight = ThrottleLimits(perHost: 1, streamsPerHost: 1)

  /// Runs a task before it returns a response, and resends after a 401.
  private struct Asking: PerAttemptStep {
    let ask: @Sendable () async throws -> Void

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      try await ask()
      guard response.status == 401 else { return response }
      let second = try await next(request)
      withExtendedLifetime(response) {}  // release builds must also keep the response until here
      return second
    }
  }

  /// A token renewal that the first caller starts and all callers share.
  private actor SharedRenewal {
    private var work: Task<Void, any Error>?

    func renewed(_ renew: @escaping @Sendable () async throws -> Void) async throws {
      let work = work ?? Task { try await renew() }
      self.work = work
      try await work.value
    }
  }

  /// Returns a shop with one slot per host, and a second server without steps that uses the same manager.
  private func shop(_ ask: @escaping @Sendable (Server) async throws -> Void) throws -> Shop {
    let renewing = Shared<Server?>(nil)
    let shop = try Shop(limits: Self.tight) {
      $0.perAttemptSteps = [Asking { if let server = renewing.withLock({ $0 }) { try await ask(server) } }]
    }
    let plain = Server(Remote(shop.mock.url), manager: shop.server.manager)
    renewing.withLock { $0 = plain }
    shop.mock.route("/token", answer: .text("new"))
    return shop
  }

  /// Returns the statuses of concurrent calls. A call that hangs is cancelled at the time limit and has no status.
  private func statuses(of calls: Int = 1, _ call: @escaping @Sendable () async throws -> HTTPStatus) async
    -> [HTTPStatus?]
  {
    await withTaskGroup(of: HTTPStatus?.self) { group in
      for _ in 0..<calls { group.addTask { try? await call() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(arguments: [401, 200]) func `a step can run a task while it holds a response`(status: HTTPStatus) async throws {
    let shop = try shop { try await PlainTask(path: "token").on($0).run() }
    shop.mock.enqueue(.status(status, body: "first"))
    shop.mock.route("/plain", answer: .text("second"))
    #expect(await statuses { try await PlainTask().on(shop.server).run().status } == [200])
    #expect(shop.mock.requests.map(\.path) == ["/plain", "/token"] + (status == 401 ? ["/plain"] : []))
    #expect(shop.isQuiet)
  }

  @Test(arguments: [401, 200]) func `a step can make a call while it holds a streamed response`(status: HTTPStatus)
    async throws
  {
    let shop = try shop { _ = try await PlainTask(path: "token").on($0).downloadData() }
    shop.mock.enqueue(.status(status, body: "first"))
    shop.mock.route("/plain", answer: .text("second"))
    let read = await statuses {
      let response = try await PlainTask().on(shop.server).stream()
      _ = try await response.body.collect()
      return response.status
    }
    #expect(read == [200])
    #expect(shop.mock.requests.map(\.path) == ["/plain", "/token"] + (status == 401 ? ["/plain"] : []))
    #expect(await eventually { shop.isQuiet && shop.server.manager.throttle.streams == 0 })
  }

  @Test func `many calls share one renewal without deadlock`() async throws {
    let renewal = SharedRenewal()
    let shop = try shop { server in try await renewal.renewed { try await PlainTask(path: "token").on(server).run() } }
    let (refused, number) = (Shared(Set<String>()), Shared(0))
    shop.mock.route("/plain/*") { request in
      let isFirst = refused.withLock { $0.insert(request.path).inserted }
      return isFirst ? .status(401, body: "no") : .text("fine")
    }
    let eight = await statuses(of: 8) {
      let number = number.withLock { number in
        number += 1
        return number
      }
      return try await PlainTask(path: "plain/\(number)").on(shop.server).run().status
    }
    #expect(eight == Array(repeating: .ok, count: 8))
    #expect(shop.mock.requests.count { $0.path.hasPrefix("/plain") } == 16)
    #expect(shop.mock.requests.count { $0.path == "/token" } == 1 && shop.isQuiet)
  }

  @Test func `a request body can be the response of a call to the same host`() async throws {
    let shop = try Shop(limits: Self.tight) { $0.defaultTimeout = .seconds(10) }
    let server = shop.server
    let body = HTTPBody.stream {
      AsyncThrowingStream<Data, any Error> { chunks in
        Task {
          do {
            chunks.yield(try await PlainTask(path: "widgets/7").on(server).downloadData())
            chunks.finish()
          } catch {
            chunks.finish(throwing: error)
          }
        }
      }
    }
    let task = URLTask(shop.url("echo/x"), method: .put, body: body).on(server)
    #expect(await statuses { try await task.run().status } == [200])
    #expect(shop.isQuiet)
  }
}
