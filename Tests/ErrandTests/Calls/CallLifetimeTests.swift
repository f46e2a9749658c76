import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A finished call must release its memory, because a server process makes millions of calls.
@Suite(.timeLimit(.minutes(1))) struct CallLifetimeTests {
  private struct Reference {
    weak var call: AnyObject?
    /// Every call retains its server, so the server shows whether internal calls were released too.
    weak var server: Server?

    var isReleased: Bool { call == nil && server == nil }
  }

  /// Creates two servers. The first server of a process becomes the default, and a message about the second is logged.
  /// Both may be kept.
  init() { for _ in 0..<2 { _ = Server("https://default.test", environment: [:]) } }

  private struct Passing: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  /// Creates a server that answers the second request, a validation, with 304.
  private func shop(_ configure: (inout ServerConfiguration) -> Void) -> CachedShop {
    CachedShop(configure: configure) { number, request in
      let fields: HTTPHeaders = [.eTag: "\"1\"", .cacheControl: "max-age=60"]
      return number == 2
        ? .status(.notModified, headers: fields, for: request) : .text("\(number)", fields, for: request)
    }
  }

  /// Returns a weak reference to a call whose response has been released.
  private func reference(_ shop: CachedShop, _ policy: CachePolicy = .inherited) async throws -> Reference {
    Reference(call: try await shop.task("widgets/7", policy).response().response.call, server: shop.server)
  }

  @Test func `releases a call after a cache store, hit, validation or bypass`()
    async throws
  {
    let shop = shop { _ in }
    for (policy, status) in [(.standard, "stored"), (.standard, "hit"), (.validated, "304"), (.none, "bypass")]
      as [(CachePolicy, String)]
    {
      let reference = try await reference(shop, policy)
      #expect(await eventually { reference.call == nil }, "\(status)")
    }
    #expect(shop.sentCount == 3)
  }

  @Test func `releases calls with steps, authentication, coalescing or hedging`() async throws {
    let features: [(String, (inout ServerConfiguration) -> Void)] = [
      ("no feature", { _ in }), ("a per-call step", { $0.perCallSteps = [Passing()] }),
      ("a per-attempt step", { $0.perAttemptSteps = [Passing()] }),
      ("authentication", { $0.authentication = .bearer("a") }), ("coalescing", { $0.coalescesRequests = true }),
      ("hedging", { $0.hedging = .after(.seconds(60)) }),
    ]
    for (name, configure) in features {
      let reference = try await reference(
        shop { configuration in
          configuration.cache = nil
          configure(&configuration)
        })
      #expect(await eventually { reference.isReleased }, "\(name)")
    }
  }

  private struct Keeping: PerCallStep {
    let kept = Shared<[HTTPResponse]>([])
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      kept.withLock { $0.append(response) }
      return response
    }
  }

  @Test func `a response that a step keeps does not retain its call, even if the call has a deadline`() async throws {
    let step = Keeping()
    let shop = VirtualShop {
      $0.perCallSteps = [step]
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    let call = try await CachedTask(path: "widgets").on(shop.server).deadline(.seconds(5)).response().response.call
    weak let reference = call
    _ = consume call
    #expect(await eventually { reference == nil })
    #expect(try await step.kept.withLock { $0[0].body }.collect() == Data("content".utf8))
  }

  @Test(arguments: ["echo", "log details", "recorder"])
  func `releases a recorded call whose deadline shortens the attempt's time limit`(record: String) async throws {
    struct Recorder: CallRecorder { func record(_ call: RecordedCall) {} }
    func reference() async throws -> Reference {
      let shop = VirtualShop {
        switch record {
        case "echo": $0.echoesTasks = true
        case "log details": $0.logOptions = [.responseHeaders]
        default: $0.recorders = [Recorder()]
        }
      } answer: { _, request, _ in
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.yield(Data("whole".utf8))
        continuation.finish()
        return HTTPResponse(url: request.url, body: HTTPResponseBody(StreamSource(stream)))
      }
      let answer = try await CachedTask(path: "a").on(shop.server).deadline(.seconds(10)).response()
      return Reference(call: answer.response.call, server: shop.server)
    }
    let released = try await reference()
    #expect(await eventually { released.isReleased })
  }

  @Test func `releases the call of a handle whose value contains a response`() async throws {
    func response() async throws -> Reference {
      let shop = shop { _ in }
      let handle = shop.server.manager.start(PlainTask().on(shop.server))
      return Reference(call: try await handle.value.call, server: shop.server)
    }
    func download(to file: URL) async throws -> Reference {
      let shop = shop { _ in }
      let handle = shop.server.manager.start(PlainTask().on(shop.server), downloadingTo: file)
      return Reference(call: try await handle.value.response.call, server: shop.server)
    }
    let responded = try await response()
    #expect(await eventually { responded.isReleased })
    try await withFolder { folder in
      let downloaded = try await download(to: folder.appendingPathComponent("a"))
      #expect(await eventually { downloaded.isReleased })
    }
  }

  @Test func `the final state keeps the head of the response but not the body`() async throws {
    var state = CallState()
    state.response = HTTPResponse(
      .ok, url: .known("https://shop.test"), headers: ["X-A": "1"],
      body: HTTPResponseBody(Data("body".utf8), trailers: ["X-B": "2"]))
    let head = try #require(state.end()?.head.response)
    #expect(try await head.body.collect().isEmpty)
    #expect(head.status == .ok && head.headers["X-A"] == "1" && head.body.trailers["X-B"] == "2")
  }
}
