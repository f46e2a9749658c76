import Errand

struct Widget: TaskPayload {
  let id: Int
  let name: String
}

struct GetWidget: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let id: Int
  var path: String { "widgets/\(id)" }
}

func introduction() async throws -> (Server, Widget) {
  let shop = Server(remote: "https://shop.example.com/v1")
  let widget = try await GetWidget(id: 7).on(shop).download()
  let added = try await Endpoint<Widget, Widget>.post("widgets", widget).on(shop).download()
  return (shop, added)
}
