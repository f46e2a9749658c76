import Errand

struct SearchWidgets: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = [Widget]
  let text: String
  var path: String { "widgets" }
  var query: HTTPQuery { ["q": text, "limit": "20"] }
  var headers: HTTPHeaders { ["Accept-Language": "en"] }
  var timeout: Duration { .seconds(5) }
}

struct AddWidget: ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let uploadPayload: Widget
  var path: String { "widgets" }
}

extension Endpoint<Void, [Widget]> {
  static func search(_ text: String) -> Self { .get("widgets", query: ["q": text]) }
}

func search(_ shop: Server) async throws -> [[Widget]] {
  let found = try await SearchWidgets(text: "cog").timeout(.seconds(2)).priority(.high).on(shop).download()
  let same = try await Endpoint<Void, [Widget]>.search("cog").on(shop).download()
  return [found, same]
}

func travelOfAWidget(from shop: Server) async throws -> Widget {
  let answer = try await GetWidget(id: 7).on(shop).response()
  print(answer.record)
  return answer.payload
}
