import Errand
import ErrandTesting
import Testing

/// The tests shown in the README section about testing.
@Suite(.timeLimit(.minutes(1))) struct TestingRecipeTests {
  struct Widget: TaskPayload {
    let id: Int
    let name: String
  }

  struct GetWidget: GET<Widget> {
    let id: Int
    var path: String { "widgets/\(id)" }
  }

  @Test func `returns the name of a widget`() async throws {
    let stub = StubTransport { request in .json(#"{"id": 7, "name": "Cog"}"#, for: request) }
    let shop = Server("https://shop.test", transport: stub)
    let widget = try await Server.withDefault(shop) { try await GetWidget(id: 7).send() }
    #expect(widget.name == "Cog")
  }

  @Test func `retries a 503`() async throws {
    let mock = try MockServer()
    mock.enqueue(.status(503))
    mock.route(.get, "/widgets/:id") { _ in .json(#"{"id": 7, "name": "Cog"}"#) }
    let shop = Server(mock.url)
    _ = try await shop.send(GetWidget(id: 7).retry(upTo: 2, after: .zero))
    #expect(mock.requestCount == 2)
  }
}
