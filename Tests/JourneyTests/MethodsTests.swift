import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct MethodsTests {
  @Test func `creates, reads, replaces, updates and deletes widgets`() async throws {
    let shop = try Shop()
    shop.mock.route(.put, "/widgets/:id") { .json(String(decoding: $0.body, as: UTF8.self)) }
    shop.mock.route(.patch, "/widgets/:id") { .json(String(decoding: $0.body, as: UTF8.self)) }
    shop.mock.route(.delete, "/widgets/:id", answer: .status(204))
    let defaults = EndpointDefaults(server: shop.server)
    #expect(try await GetWidget(id: 9).on(shop.server).download().id == 9)
    let added = try await AddWidget().on(shop.server).response()
    #expect(added.payload == Widget() && added.status == .created)
    #expect(
      try await Endpoint<Widget, Widget>.put("widgets/7", body: Widget(id: 1), defaults: defaults).download().id == 1)
    #expect(
      try await Endpoint<Widget, Widget>.patch("widgets/7", body: Widget(id: 2), defaults: defaults).download().id == 2)
    try await Endpoint<Void, Void>.delete("widgets/7", defaults: defaults).download()
    #expect(shop.mock.requests.map(\.method) == [.get, .post, .put, .patch, .delete])
    #expect(shop.mock.connectionCount == 1 || !keepsConnections, "all exchanges use one connection")
    #expect(shop.isQuiet)
  }

  @Test func `HEAD returns the headers without a body`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.text("0123456789"))
    let response = try await URLTask(shop.url("x"), method: .head).on(shop.server).run()
    #expect(response.headers[.contentLength] == "10")
    #expect(try await GetWidget().on(shop.server).response().response.isConnectionReused == keepsConnections)
  }

  @Test func `sends only the task's headers and none added by libcurl`() async throws {
    let shop = try Shop { $0.userAgent = "me" }
    try await URLTask(shop.url("x"), headers: ["B": "2", "A": "1", "B": "3"]).on(shop.server).accepting(.all).run()
    let request = try #require(shop.mock.requests.first)
    let fields = request.headers.filter { $0.name != .host && $0.name != .acceptEncoding }
    #expect(fields.map { "\($0.name)=\($0.value)" } == ["Accept=*/*", "User-Agent=me", "B=2", "A=1", "B=3"])
  }

  private static let megabyte = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  @Test(arguments: ["bytes", "file", "stream", "stream of known length", "once", "no bytes"])
  func `sends a body of any kind completely`(kind: String) async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let expected = kind == "no bytes" ? Data() : Self.megabyte
      let file = folder.appendingPathComponent("body")
      try expected.write(to: file)
      let chunks = stride(from: 0, to: expected.count, by: 100_000).map {
        expected[$0..<min($0 + 100_000, expected.count)]
      }
      let stream: @Sendable () -> AsyncStream<Data> = {
        AsyncStream { continuation in
          for chunk in chunks { continuation.yield(chunk) }
          continuation.finish()
        }
      }
      let body: HTTPBody =
        switch kind {
        case "file": .file(file)
        case "stream": .stream(stream)
        case "stream of known length": .stream(length: Int64(expected.count), stream)
        case "once": .once(stream())
        default: .bytes(expected)
        }
      for _ in 0..<(kind == "once" ? 1 : 2) {
        let echo = try await URLTask(shop.url("echo/x"), method: .put, body: body).on(shop.server).download()
        #expect(echo == expected)
      }
      let request = try #require(shop.mock.requests.last)
      #expect(request.body == expected && request.isBodyComplete)
      let isCounted = kind != "stream" && kind != "once"
      #expect(request.headers[.contentLength] == (isCounted ? "\(expected.count)" : nil))
      #expect(request.headers[.transferEncoding] == (isCounted ? nil : "chunked"))
    }
  }

  @Test func `throws if a stream differs from its stated length, and the request stays incomplete`()
    async throws
  {
    let shop = try Shop()
    let body = HTTPBody.stream(length: 10) {
      AsyncStream {
        $0.yield(Data(count: 3)); $0.finish()
      }
    }
    let error = await #expect(throws: TaskError.self) {
      try await URLTask(shop.url("echo/x"), method: .put, body: body).on(shop.server).run()
    }
    #expect(error?.code == .bodyLengthMismatch)
    #expect(await eventually { shop.mock.openConnections == 0 })
    #expect(shop.mock.requests.allSatisfy { !$0.isBodyComplete })
    #expect(shop.isQuiet)
  }

  @Test func `succeeds on the fourth attempt after two 503s and a dropped connection`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.status(503, headers: ["Retry-After": "0"]))
    // Use a new connection, because a request that fails on a reused one is resent within its attempt.
    shop.mock.enqueue(.status(503).closing())
    shop.mock.enqueue(.drop)
    let response = try await GetWidget().on(shop.server).retry(upTo: 3, after: .zero).response()
    #expect(response.payload == Widget())
    #expect(response.attempts.map(\.status) == [503, 503, nil, 200])
    #expect(response.attempts.map(\.number) == [1, 2, 3, 4])
    #expect(response.metrics.attemptCount == 4 && response.record.entries.count { $0.moment.isDelay } == 3)
    #expect(shop.mock.requestCount == 4 && shop.isQuiet)
  }
}

extension CallMoment {
  fileprivate var isDelay: Bool { if case .delayStarted = self { true } else { false } }
}
