import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct EndpointTests {
  @Test func `an endpoint without a body downloads its payload`() async throws {
    let stub = StubServer(.widget)
    let endpoint = Endpoint<Void, Widget>.get("widgets/7", query: ["full": "1"])
    #expect(try await endpoint.on(stub.server).download() == Widget())
    #expect(stub.requests.first?.method == .get)
    #expect(stub.urls == ["https://shop.test/widgets/7?full=1"])
  }

  @Test func `an endpoint with a payload sends the payload`() async throws {
    let server = StubServer(.widget).server
    let defaults = EndpointDefaults(server: server, headers: ["X": "1"])
    let json = #"{"id":7,"name":"Sprocket"}"#
    for (endpoint, method) in [
      (Endpoint<Widget, Widget>.post("w", body: Widget(), defaults: defaults), HTTPMethod.post),
      (.put("w", body: Widget(), defaults: defaults), .put), (.patch("w", body: Widget(), defaults: defaults), .patch),
      (.request("MERGE", "w", body: Widget(), defaults: defaults), "MERGE"),
    ] {
      #expect(try await endpoint.download() == Widget())
      try await expectTask(endpoint, sends: ExpectedRequest(method, "/w", headers: ["X": "1"], body: .json(json)))
    }
  }

  @Test func `an endpoint sends any body with its media type`() async throws {
    let form = MultipartForm([.text("a", "b")])
    for (endpoint, method, type, text) in [
      (Endpoint<HTTPBody, Widget>.post("x", body: .text("hi")), HTTPMethod.post, "text/plain; charset=utf-8", "hi"),
      (.put("x", body: .form(["a": "b c"])), .put, "application/x-www-form-urlencoded", "a=b+c"),
      (.patch("x", body: .bytes(Data([0x41]), type: "image/png")), .patch, "image/png", "A"),
      (.request("MERGE", "x", body: .text("hi")), "MERGE", "text/plain; charset=utf-8", "hi"),
    ] {
      try await expectTask(
        endpoint, sends: ExpectedRequest(method, "/x", headers: [.contentType: type], body: .data(Data(text.utf8))))
    }
    let stub = StubServer(.status(503), .widget)
    let upload = Endpoint<HTTPBody, Widget>.request(.put, "x", form: form)
    #expect(try await upload.on(stub.server).download() == Widget())
    #expect(stub.requests.map { $0.headers[.contentType] } == [form.mediaType.rawValue, form.mediaType.rawValue])
    try await Endpoint<HTTPBody, Void>.post("x", form: form).on(stub.server).timeout(.seconds(5)).upload()
    #expect(stub.requests.last?.method == .post && stub.requests.last?.body.isInMemory == false)
  }

  @Test func `an endpoint sends a one-shot body only once`() async throws {
    let stub = StubServer(.status(503), .widget)
    let body = HTTPBody.once(AsyncStream<Data> { $0.finish() })
    let error = await #expect(throws: TaskError.self) {
      try await Endpoint<HTTPBody, Widget>.put("x", body: body).on(stub.server).download()
    }
    #expect(error?.status == 503 && stub.requests.count == 1)
  }

  @Test func `an endpoint without a response payload ignores the body`() async throws {
    let stub = StubServer(.data(Data("ignored".utf8), .plainText))
    try await Endpoint<Void, Void>.delete("w", defaults: EndpointDefaults(server: stub.server)).download()
    #expect(stub.requests.first?.method == .delete)
  }

  @Test func `a modified endpoint without a response payload keeps its method`() async throws {
    let stub = StubServer(.status(.noContent))
    try await Endpoint<Void, Void>.request(.get, "x").on(stub.server).download()
    try await Endpoint<Widget, Void>.post("x", body: Widget()).on(stub.server).timeout(.seconds(5)).download()
    #expect(stub.requests.map(\.method) == [.get, .post])
  }

  @Test func `only an endpoint with a payload can upload`() async throws {
    func uploads<Described: ServerTask>(_ task: Described) -> Bool { task is any UploadingTask }
    #expect(
      uploads(Endpoint<Widget, Widget>.post("x", body: Widget())) && uploads(URLTask(.known("https://shop.test"))))
    #expect(!uploads(Endpoint<Void, Widget>.get("x")) && !uploads(Endpoint<Void, Void>.request(.get, "x").tagged("a")))
    let stub = StubServer(.widget)
    try await Endpoint<Widget, Widget>.post("x", body: Widget()).on(stub.server).upload()
    #expect(stub.requests.first?.body.isEmpty == false)
  }

  @Test func `a URL can be used as a task`() async throws {
    let stub = StubServer(.data(Data([1, 2]), .octetStream))
    let task = URLTask(.known("https://other.test/x?y=1"), headers: ["X": "1"], body: .text("hi"))
    #expect(try await task.on(stub.server).download() == Data([1, 2]))
    #expect(stub.urls == ["https://other.test/x?y=1"])
    #expect(stub.requests.first?.headers["X"] == "1")
    #expect(stub.requests.first?.method == .post)
  }

  @Test func `endpoint defaults apply to every endpoint, and a modifier overrides them`() async throws {
    let stub = StubServer(.status(503), .status(503), .status(503), .status(503), .widget)
    let other = StubServer(.widget)
    let defaults = EndpointDefaults(
      server: stub.server, headers: ["X": "1"], timeout: .seconds(7), retryPolicy: .fixed(retries: 5, delay: .zero))
    let endpoint = Endpoint<Void, Widget>.get("w", defaults: defaults)
    _ = try await endpoint.download()
    #expect(stub.requests.count == 5 && stub.requests.allSatisfy { $0.headers["X"] == "1" })
    #expect(stub.requests.first?.options.timeouts.attempt == .seconds(7))
    _ = try await endpoint.on(other.server).header("X", "2").timeout(.seconds(8)).download()
    let request = try #require(other.requests.first)
    #expect(request.headers["X"] == "2" && request.options.timeouts.attempt == .seconds(8))
  }
}
