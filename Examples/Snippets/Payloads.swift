import Errand
import Foundation

struct GetStock: GET<[Widget]> {
  let path = "stock"
  let payloadPath = ["data", "items"]  // {"data": {"items": […]}, "took": 3}
}

struct FindWidget: POST<JSONValue, Widget> {
  let uploadPayload: JSONValue
  let path = "graphql"
  let payloadPath = ["data", "widget"]

  func postProcess(response: HTTPResponse) async throws {
    let answer: JSONValue = try await response.decoded()
    guard let message = answer["errors"]?[0]?["message"]?.string else { return }
    throw TaskError(.init("graphQL"), message, response: response)
  }
}

func decoders(of shop: Server) async throws -> Widget {
  await shop.update { $0.decoders = [.propertyList: PropertyListDecoder()] }

  await shop.update { $0.payloadPath = "data" }
  let plain = try await GetWidget(id: 7).payloadPath(.whole).send()
  return plain
}

func untyped(_ shop: Server) async throws -> String? {
  let answer = try await Endpoint<Void, JSONValue>.get("widgets/7").on(shop).send()
  let first = answer["tags"]?[0]?.string
  let body: JSONValue = ["name": "Cog", "tags": ["new"], "weight": nil]
  try await Endpoint<JSONValue, Void>.post("widgets", body: body).on(shop).send()
  return first
}

actor Checksum { var text = "" }

func backUp(_ backup: URL, _ sum: Checksum, to shop: Server) async throws {
  let summed = HTTPBody.file(backup).trailers(["X-Checksum"]) { ["X-Checksum": await sum.text] }
  try await Endpoint<HTTPBody, Void>.put("backups/7", body: summed).on(shop).send()
}

func notes(_ notes: URL, _ widget: Widget, _ shop: Server) async throws {
  try await shop.send(.put("notes/7", body: .file(notes)))
  try await shop.send(.post("notes", form: MultipartForm([.file("note", notes)])))
  try await shop.send(.post("login", form: ["name": "ada", "remember": true]))  // name=ada&remember=true
  try await Endpoint<Widget, Void>.post("widgets", body: widget).encoder(FormEncoder()).on(shop).send()
}

func requests(_ widget: Widget, _ shop: Server) async throws {
  try await Endpoint<Void, Void>.request(.post, "logout").on(shop).send()
  try await Endpoint<Widget, Void>.request(.delete, "widgets", body: widget).on(shop).send()
}
