import Errand
import ErrandTesting
import Foundation
import Testing

private protocol Stamped: ServerTask {}

extension Stamped {
  var headers: HTTPHeaders { ["X-Shop": "1"] }
}

/// Tasks that declare their method and payloads in their inheritance clause.
@Suite(.timeLimit(.minutes(1))) struct MethodTaskTests {
  private struct Get: GET<Widget> { let path = "w" }
  private struct Post: POST<Widget, Widget> {
    let uploadPayload = Widget()
    let path = "w"
  }
  private struct Put: PUT<Widget, Widget> {
    let uploadPayload = Widget()
    let path = "w"
  }
  private struct Patch: PATCH<Widget, Widget> {
    let uploadPayload = Widget()
    let path = "w"
  }
  private struct Delete: DELETE<Widget> { let path = "w" }
  private struct Query: QUERY<Widget, Widget> {
    let uploadPayload = Widget()
    let path = "w"
  }
  private struct Head: HEAD { let path = "w" }

  @Test func `each method sends its upload payload and decodes its download payload`() async throws {
    let stub = StubServer(.widget)
    func send(_ task: some PayloadDownloadingTask<Widget>) async throws {
      #expect(try await stub.server.send(task) == Widget())
      #expect(stub.urls.last == "https://shop.test/w")
    }
    try await send(Get())
    try await send(Post())
    try await send(Put())
    try await send(Patch())
    try await send(Delete())
    try await send(Query())
    try await stub.server.send(Head())
    #expect(stub.requests.map(\.method) == [.get, .post, .put, .patch, .delete, .query, .head])
    let json = Data(#"{"id":7,"name":"Sprocket"}"#.utf8)
    #expect(
      stub.requests.map { $0.body.data ?? Data() }.map { $0 == json } == [false, true, true, true, false, true, false])
  }

  private struct Shared: Stamped, GET<[Widget]> {
    let id: Int
    var path: [String] { ["w", "\(id)"] }
    var query: [String: Int] { ["page": 2] }
  }

  @Test func `a method protocol can be combined with an app's protocol and supports all property types`() async throws {
    let stub = StubServer(.json(#"[{"id":7,"name":"Sprocket"}]"#))
    #expect(try await stub.server.send(Shared(id: 7)) == [Widget()])
    #expect(stub.urls == ["https://shop.test/w/7?page=2"] && stub.requests.first?.headers["X-Shop"] == "1")
  }

  private struct Beside: ServerPOSTTask, FormUploadingTask<[String: String]>, PayloadDownloadingTask<Widget> {
    let uploadPayload = ["a": "b c"]
  }

  private struct Nested: GET<Nested.Answer> {
    struct Answer: Decodable, Sendable { let id: Int }
  }

  private struct Generic<Value: Codable & Sendable>: PUT<Value, Value> { let uploadPayload: Value }

  @Test func `payloads can be declared with any marker, in nested and generic types`() async throws {
    let stub = StubServer(.widget)
    #expect(try await stub.server.send(Beside()) == Widget())
    #expect(stub.requests.first?.body.data == Data("a=b+c".utf8))
    #expect(try await stub.server.send(Nested()).id == 7)
    #expect(try await stub.server.send(Generic(uploadPayload: Widget())) == Widget())
  }

  // MARK: Without a payload

  private struct PlaceOrder: POST<Widget, NoContent> { let uploadPayload = Widget() }
  private struct BuyWidget: POST<NoContent, Widget> {}
  private struct LogOut: POST<NoContent, NoContent> {}
  private struct Remove: DELETE<NoContent> {}
  private struct Envelope: DELETE<NoContent> { let payloadPath = "data" }

  @Test func `a request declared as NoContent has no body`() async throws {
    let stub = StubServer(.widget)
    #expect(try await stub.server.send(BuyWidget()) == Widget())
    try await stub.server.send(LogOut())
    try await stub.server.send(Generic(uploadPayload: NoContent()))
    #expect(stub.requests.map(\.method) == [.post, .post, .put])
    #expect(stub.requests.allSatisfy { $0.body.isEmpty && !$0.headers.contains(.contentType) })
  }

  @Test(arguments: [.status(.noContent), .widget, .data(Data("<p>".utf8), "text/html")] as [StubLog.Answer])
  func `ignores any body of a response declared as NoContent`(answer: StubLog.Answer) async throws {
    let stub = StubServer(answer)
    let response: HTTPResponse = try await stub.server.send(PlaceOrder())
    #expect(response.status.isAccepted)
    try await Remove().on(stub.server).send()
    #expect(try await Remove().on(stub.server).response().payload == NoContent())
    #expect(try await Envelope().on(stub.server).download() == NoContent())
    let results = try await stub.server.manager.downloads(of: [Remove(), Remove()].map { $0.on(stub.server) })
    #expect(results == [NoContent(), NoContent()])
  }

  private struct Ignored: POST<NoContent, NoContent> { let uploadPayload = Widget() }

  @Test func `debug builds report a payload property of a task that sends NoContent`() async throws {
    let error = await #expect(throws: TaskExpectationError.self) {
      try await expectTask(Ignored(), sends: ExpectedRequest(.post, "/"))
    }
    let words = "Ignored.uploadPayload is ignored because the task's UploadPayload is NoContent: change it to Widget"
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }
}
