import Errand

struct Widget: TaskPayload {
  let id: Int
  let name: String
}

struct GetWidget: GET<Widget> {
  let id: Int
  var path: String { "widgets/\(id)" }
}

func introduction() async throws -> (Server, Widget) {
  let shop = Server("https://shop.example.com/v1")
  let widget = try await shop.send(GetWidget(id: 7))
  let added: Widget = try await shop.send(.post("widgets", body: widget))
  return (shop, added)
}
