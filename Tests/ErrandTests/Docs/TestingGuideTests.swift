import Errand
import ErrandTesting
import ErrandTestingTraits
import Foundation
import Testing

/// The tests shown in the guide "Testing your app".
@Suite(.timeLimit(.minutes(1))) struct TestingGuideTests {
  struct Widget: TaskPayload, Equatable {
    let id: Int
    let name: String
  }

  struct GetWidget: GET<Widget> {
    let id: Int
    var path: String { "widgets/\(id)" }
  }

  struct AddWidget: POST<Widget, Widget> {
    let uploadPayload: Widget
    var path: String { "widgets" }
  }

  /// App code that does not specify a server.
  struct Catalogue {
    func name(of id: Int) async throws -> String { try await GetWidget(id: id).send().name }
  }

  let cog = Widget(id: 7, name: "Cog")

  @Test func `a stub answers without a server`() async throws {
    let stub = StubTransport(.json(#"{"id": 7, "name": "Cog"}"#))
    let shop = Server("https://shop.test", transport: stub)
    #expect(try await shop.send(GetWidget(id: 7)).name == "Cog")
    #expect(stub.requests.first?.url.path() == "/widgets/7")
  }

  @Test func `the catalogue returns the name of a widget`() async throws {
    let stub = StubTransport(.json(#"{"id": 7, "name": "Cog"}"#))
    let shop = Server("https://shop.test", transport: stub)
    let name = try await Server.withDefault(shop) { try await Catalogue().name(of: 7) }
    #expect(name == "Cog")
  }

  @Test func `the catalogue retries a 503`() async throws {
    let stub = StubTransport([.status(503), .json(#"{"id": 7, "name": "Cog"}"#)])
    let shop = Server("https://shop.test", transport: stub) { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }
    let name = try await Server.withDefault(shop) { try await Catalogue().name(of: 7) }
    #expect(name == "Cog" && stub.requests.count == 2)
  }

  @Test func `adding a widget posts it as JSON`() async throws {
    let shop = Server("https://shop.test")
    try await expectTask(
      AddWidget(uploadPayload: cog).on(shop),
      sends: ExpectedRequest(.post, "/widgets", body: .json(#"{"id": 7, "name": "Cog"}"#)))
  }

  @Test func `sends the token with the widget`() async throws {
    let mock = try MockServer()
    mock.route(.post, "/widgets") { request in .data(request.body, type: .json, status: .created) }
    let shop = Server(mock.url) { $0.standardHeaders[.authorization] = "Bearer t0ken" }

    let added = try await shop.response(AddWidget(uploadPayload: cog))
    #expect(added.status == .created && added.payload == cog)

    let request = try await mock.nextRequest()
    #expect(request.headers[.authorization] == "Bearer t0ken")
    #expect(try JSONDecoder().decode(Widget.self, from: request.body) == cog)
  }

  @Test func `does not retry a POST if the connection is lost`() async throws {
    let mock = try MockServer()
    mock.enqueue(.drop)
    let shop = Server(mock.url)
    let error = await #expect(throws: TaskError.self) {
      try await shop.send(AddWidget(uploadPayload: cog))
    }
    #expect(error?.code == .connectionLost && error?.wasNotSent == false)
    #expect(mock.requestCount == 1)
  }

  @Test func `retries after the delay that the server requests`() async throws {
    let clock = ManualClock()
    let mock = try MockServer()
    mock.enqueue(.status(503, headers: ["Retry-After": "20"]))
    mock.route(.get, "/widgets/:id") { _ in .json(#"{"id": 7, "name": "Cog"}"#) }
    let shop = Server(mock.url, manager: TaskManager(clock: CallClock(clock)))

    async let widget = shop.send(GetWidget(id: 7))
    await clock.sleepers(count: 1)  // the call is waiting to retry
    #expect(mock.requestCount == 1)
    clock.advance(by: .seconds(20))
    #expect(try await widget == cog)
  }

  @Test(.chaos(runs: 100)) func `the catalogue never shows a wrong name`() async throws {
    let clock = CallClock(ManualClock(.whenIdle))
    let stub = StubTransport(.json(#"{"id": 7, "name": "Cog"}"#), chaos: .current, clock: clock)
    let shop = Server("https://shop.test", transport: stub, manager: TaskManager(clock: clock))
    do {
      let name = try await Server.withDefault(shop) { try await Catalogue().name(of: 7) }
      #expect(name == "Cog")
    } catch is TaskError {}
  }

  @Test func `cancelling a call closes its connection`() async throws {
    let mock = try MockServer()
    mock.route("/widgets/:id", answer: .hang)
    let shop = Server(mock.url)
    let call = Task { try await shop.send(GetWidget(id: 7)) }
    _ = try await mock.nextRequest()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    try await mock.waitForOpenConnections(0)
  }

  @Test func `observers see every attempt start and end`() async throws {
    let recorder = EventRecorder()
    let shop = Server("https://shop.test", transport: StubTransport { .status(.badGateway, for: $0) })
    await shop.update { $0.observers = [recorder] }
    await #expect(throws: TaskError.self) {
      try await GetWidget(id: 7).on(shop).retry(upTo: 2, after: .zero).send()
    }
    await recorder.balanced()
    #expect(recorder.moments().filter { $0.hasPrefix("attempt") && $0.hasSuffix("started") }.count == 3)
  }

  @Test func `records a failing run`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let shop = Server("https://shop.test", transport: StubTransport { .status(.notFound, for: $0) })

    try await shop.manager.recordTaskPath(to: folder)
    _ = try? await shop.send(GetWidget(id: 7))
    await shop.manager.endTaskPathRecording()  // returns when everything is written

    let index = try String(contentsOf: folder.appendingPathComponent("index.json"), encoding: .utf8)
    #expect(index.contains("GetWidget") && index.contains("404"))
  }
}
