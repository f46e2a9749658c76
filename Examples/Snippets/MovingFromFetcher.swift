import Errand
import Foundation

/// The code of `Docs/moving/FromFetcher.md`.
enum MovingFromFetcher {
  protocol AdminTask: ServerGETTask {}

  struct ListAdmins: AdminTask, PayloadDownloadingTask {
    typealias DownloadPayload = [User]
    let path = "admins"
  }

  struct FindNotes: GET<[Widget?]?> {
    let path = "notes"
    func verify(_ response: HTTPResponse) throws {
      if response.headers["X-Stock"] == "0" { throw TaskError(.soldOut, "no notes", response: response) }
    }
  }

  static func endpoints(_ shop: Server, _ form: Data) async throws {
    let widgets = try await Endpoint<Void, [Widget]>.search("cog").on(shop).send()
    let widget: Widget = try await shop.send(.get("widgets/7"))
    let added: Widget = try await shop.send(.post("widgets", body: widget))
    let defaults = EndpointDefaults(headers: ["X-Client": "warehouse"], timeout: .seconds(5))
    _ = try await Endpoint<Void, [Widget]>.get("widgets", defaults: defaults).on(shop).send()
    _ = try await Endpoint<Void, Data>.get("https://status.example.com/health").on(shop).send()
    _ = try await Endpoint<Void, Data>.request(.options, "widgets").on(shop).send()
    try await Endpoint<HTTPBody, Void>.post("upload", body: .bytes(form, type: .octetStream)).on(shop).send()
    try await Endpoint<Widget, Void>.post("widgets", body: widget).encoder(FormEncoder()).on(shop).send()
    _ = try await GetWidget(id: 7).header(.accept, "application/json").accepting(.only(200, 404)).send()
    print(widgets, added)
  }

  static func responses(_ shop: Server) async throws {
    let answer = try await shop.response(GetWidget(id: 7))
    print(answer.map(\.name).payload, answer.text, answer.data, answer.status, answer.response.url)
  }

  static func servers(_ shop: Server, _ transport: any Transport) async throws -> [Server] {
    let copy = Server("https://depot.example.com", configuration: shop.configuration)
    let other = Server("https://shop.example.com/v1", transport: transport)
    try await shop.update { try $0.addStep(RequestID(), before: "Sign") }
    return [copy, other]
  }

  static func settings(
    of shop: Server, _ stored: Data, check: @escaping @Sendable (HTTPResponse) throws -> Void
  ) async {
    await shop.update {
      $0.verify = { task, response in try check(response) }
      $0.perCallSteps.append(
        Recovery(from: .offline) { request, error in
          HTTPResponse(.ok, url: request.url, body: HTTPResponseBody(stored))
        })
      $0.standardHeaders[.accept] = "application/json"
      $0.payloadPath = "args"
    }
  }

  static func cancelled(_ shop: Server) async throws {
    let call = Task { try await GetWidget(id: 7).on(shop).retry(upTo: 3, after: .seconds(1)).send() }
    call.cancel()
    _ = try await call.value
  }
}
