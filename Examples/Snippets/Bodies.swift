import Errand
import Foundation

struct LabelValues: ServerGETTask {
  let label: String
  var path: [String] { ["label", label, "values"] }  // escaped: each value is exactly one segment
  let query = ["match": "up", "limit": "20"]  // a dictionary, pairs, or any keyed Encodable
  let headers = ["Accept-Language": "en"]
  let timeout: Duration? = .seconds(5)  // nil uses the server's timeout
  let decoder = JSONDecoder()
}

struct Rename: ServerGETTask {
  let label: String
  var path: String { "label/\(segment: label)/name" }  // escapes a value inside a string
}

struct ShopProblem: Decodable, Sendable { let code: String }

struct PlaceOrder: ServerPOSTTask, PayloadUploadingTask {
  typealias ErrorPayload = ShopProblem
  let uploadPayload: Widget
  let path = "orders"
}

func order(_ widget: Widget, from shop: Server) async throws -> Bool? {
  var soldOut: Bool?
  do {
    try await shop.send(PlaceOrder(uploadPayload: widget))
  } catch let error as TaskError where error.status == 422 {
    soldOut = error.payload(as: ShopProblem.self)?.code == "sold-out"
  } catch TaskError.Code.timedOut {
    // the order may have been placed
  }
  return soldOut
}

struct Search: ServerGETTask {
  struct Terms: Encodable, Sendable {
    var text: String
    var page: Int?
  }
  let query: Terms  // text=a%20b&page=2
  let path = "search"
}

func pageThree() throws -> HTTPQuery {
  var query = try HTTPQuery(encoding: Search.Terms(text: "a b", page: 2))
  query["page"] = "3"
  return query
}

struct Find: ServerTask {
  let httpMethod: HTTPMethod
  let parameters = ["text": "cog"]
  let path = "find"
}

struct AddWidgets: ServerPOSTTask, PayloadUploadingTask {
  let uploadPayload: [Widget]
  let path = "widgets"
}

struct AddReadings: ServerPOSTTask, PayloadUploadingTask, GZipUploadingTask {
  let uploadPayload: [Double]
  let path = "readings"
}

func add(_ widgets: [Widget], to shop: Server) async throws {
  try await AddWidgets(uploadPayload: widgets).gzipped(above: 1024).on(shop).send()
}
