import Errand

struct SearchWidgets: GET<[Widget]> {
  let text: String
  var path: String { "widgets" }
  var query: HTTPQuery { ["q": text, "limit": "20"] }
  var headers: HTTPHeaders { ["Accept-Language": "en"] }
  var timeout: Duration { .seconds(5) }
}

struct AddWidget: POST<Widget, Widget> {
  let uploadPayload: Widget
  var path: String { "widgets" }
}

extension Endpoint<Void, [Widget]> {
  static func search(_ text: String) -> Self { .get("widgets", query: ["q": text]) }
}

struct User: TaskPayload { let name: String }

struct FindUser: GET<User> {
  let name: String
  var path: String { "users/\(segment: name)" }  // users/a%2Fb
  var query: HTTPQuery { ["fields": "name,mail", "limit": 20, "exact": nil] }  // fields=name%2Cmail&limit=20
}

struct Comment: ServerPOSTTask, UploadingTask {
  let text: String
  var path: String { "comments" }
  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .form(["text": text, "public": "yes"]) }
}

func search(_ shop: Server) async throws -> [[Widget]] {
  let found = try await SearchWidgets(text: "cog").timeout(.seconds(2)).priority(.high).on(shop).send()
  let same = try await Endpoint<Void, [Widget]>.search("cog").on(shop).send()
  return [found, same]
}

protocol ShopTask: ServerTask {}

extension ShopTask {
  var headers: HTTPHeaders { ["X-Shop": "7"] }
  var timeout: Duration { .seconds(5) }
}

struct GetStockLevel: ShopTask, GET<Int> {
  let path = "stock/level"
}

extension EndpointDefaults {
  static let shop = EndpointDefaults(headers: ["X-Shop": "7"], timeout: .seconds(5))
}

extension Endpoint<Void, Int> {
  static let stockLevel = Self.get("stock/level", defaults: .shop)
}

func names(_ shop: Server) async throws -> [String] {
  let answer = try await shop.response(SearchWidgets(text: "cog"))
  print(answer.status, answer.metrics.elapsed, answer.text)  // the body, in the charset that the server declared
  let names = answer.map { $0.map(\.name) }.payload
  return names
}

func travelOfAWidget(from shop: Server) async throws -> Widget {
  let answer = try await shop.response(GetWidget(id: 7))
  print(answer.record)
  return answer.payload
}
