import Errand
import ErrandTesting
import Testing

/// The examples in the guide's table "In an app whose default isolation is the main actor" compile and run.
@Suite(.timeLimit(.minutes(1))) struct MainActorAppTests {
  @Test func `downloads a payload declared on the struct itself`() async throws {
    #expect(try await GetWidget(id: 7).download() == Widget(id: 7, name: "Cog"))
  }

  @Test func `a hook can change main-actor state, and the state can hold a task handle`() async throws {
    let handle = Server.shop.manager.start(ShowWidget(id: 7).context(Shelf.self, 3))
    #expect(try await handle.value.status == .ok)
    #expect(Shown.widgets == [7])
  }

  @Test func `downloads an array of payloads`() async throws {
    #expect(try await ListWidgets().download().map(\.name) == ["Cog", "Gear"])
  }

  @Test func `an optional payload is nil if the body is empty`() async throws {
    #expect(try await FindWidget(name: "Lever").download() == nil)
  }

  @Test func `uploads one payload type and downloads another`() async throws {
    let answer = try await AddWidget(uploadPayload: Widget(id: 0, name: "Sprocket")).response()
    #expect(answer.status == .created)
    #expect(answer.payload == Widget(id: 9, name: "Sprocket"))
  }

  @Test func `a nonisolated Codable type is a payload`() async throws {
    #expect(try await BuyWidget(id: 7).download().number == 41)
  }

  @Test func `a payload nested in its task needs no annotation`() async throws {
    #expect(try await CountWidgets().download().count == 2)
  }

  @Test func `a nonisolated protocol extension can provide shared task settings`() async throws {
    let error = await #expect(throws: TaskError.self) { try await AskBusyShop().run() }
    #expect(error?.status == .serviceUnavailable)
    #expect(error?.attempts.count == 1)
  }

  @Test func `a server can be a static constant in an extension`() {
    #expect(Server.shop.remote == "https://shop.test")
  }

  @Test func `a preflight reads main-actor state`() async throws {
    let session = Session()
    session.name = "Ada"
    let shop = Server("https://shop.test", transport: StubShop.transport)
    await shop.update { $0.preflight = { _, request in request.headers["X-Session"] = await session.name } }
    #expect(try await GetSession().on(shop).download().name == "Ada")
  }

  @Test func `endpoints and default servers work as usual`() async throws {
    let name = try await Server.withDefault(.shop) {
      try await Endpoint<Void, Widget>.get("widgets/7").download().name
    }
    #expect(name == "Cog")
  }

  @Test func `tasks can declare their method and payloads in the inheritance clause`() async throws {
    #expect(try await FetchWidget(id: 7).send().name == "Cog")
    #expect(try await FetchWidgets().send().map(\.name) == ["Cog", "Gear"])
    #expect(try await StoreWidget(uploadPayload: Widget(id: 0, name: "Sprocket")).send().id == 9)
    #expect(try await OrderWidget(id: 7).send().number == 41)
    #expect(try await RemoveWidget(id: 7).send().status == .noContent)
  }

  @Test func `a server sends tasks and endpoints, and infers the payload`() async throws {
    let shop = Server.shop
    let seventh = try await shop.send(GetWidget(id: 7))
    let widget: Widget = try await shop.send(.get("widgets/7"))
    #expect(seventh == widget)
    let widgets: [Widget] = try await shop.send(.get("widgets"))
    #expect(widgets.count == 2)
    let receipt: Receipt = try await shop.send(.post("widgets/7/orders"))
    #expect(receipt.number == 41)
    try await shop.send(.post("widgets", body: widget))
    try await shop.send(.delete("widgets/7"))
    try await shop.send(RemoveWidget(id: 7))
  }

  @Test func `a server's configuration closure can set hooks that read main-actor state`() async throws {
    let session = Session()
    session.name = "Ada"
    let timeout = Duration.seconds(3)
    let shop = Server("https://shop.test", transport: StubShop.transport, asDefault: false) {
      $0.defaultTimeout = timeout
      $0.preflight = { _, request in request.headers["X-Session"] = await session.name }
    }
    #expect(shop.configuration.defaultTimeout == timeout)
    #expect(try await shop.send(GetSession()).name == "Ada")
  }

  @Test func `the main actor can read the results of many tasks`() async {
    let basket = Basket()
    for await (task, result) in Server.shop.manager.results(of: [7, 7, 8].map { GetWidget(id: $0) }, limit: 2) {
      basket.add(task, found: (try? result.get()) != nil)  // widget 8 doesn't exist
    }
    #expect(basket.found == [7, 7])
    #expect(basket.missing == [8])
  }

  @Test func `reads lazy and asynchronous sequences off the main actor`() async throws {
    let lazy = [7, 7, 8].lazy.map { @Sendable in GetWidget(id: $0) }
    #expect(try await Server.shop.manager.withResults(of: lazy) { await $0.reduce(0) { count, _ in count + 1 } } == 3)
    let stream = AsyncStream { continuation in
      for _ in 1...3 { continuation.yield(GetWidget(id: 7)) }
      continuation.finish()
    }
    #expect(try await Server.shop.manager.downloads(of: stream).map(\.name) == ["Cog", "Cog", "Cog"])
  }

  @Test func `a model on the main actor downloads a payload and stores it`() async throws {
    let model = Model()
    try await model.load()
    #expect(model.widget?.name == "Cog")
  }
}

/// The app's state, which is isolated to the main actor by default.
final class Session {
  var name = ""
}

struct GetSession: ServerGETTask, PayloadDownloadingTask {
  struct DownloadPayload: Decodable, Sendable {
    let name: String
  }
  let path = "session"
}

final class Basket {
  private(set) var found: [Int] = []
  private(set) var missing: [Int] = []

  func add(_ task: GetWidget, found isFound: Bool) {
    if isFound { found.append(task.id) } else { missing.append(task.id) }
  }
}

final class Model {
  private(set) var widget: Widget?

  func load() async throws { widget = try await GetWidget(id: 7).download() }
}
