import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct SendTests {
  private struct Remove: ServerDELETETask { let path = "w/7" }

  @Test func `a task with a payload returns the payload, and any other task returns the response`() async throws {
    let stub = StubServer(.widget)
    let payload = try await stub.server.send(GetWidget(id: 7))
    #expect(payload == Widget())
    let added = try await stub.server.send(AddWidget())
    #expect(added == Widget())
    let response = try await stub.server.send(Remove())
    #expect(response.status == .ok && response.url.absoluteString == "https://shop.test/w/7")
    #expect(stub.requests.map(\.method) == [.get, .post, .delete])
  }

  @Test func `map changes a response's payload and keeps everything else`() async throws {
    let stub = StubServer(.data(Data(#"{"id":7,"name":"caf\#u{E9}"}"#.utf8), .json))
    let response = try await GetWidget(id: 7).on(stub.server).response()
    let mapped = response.map(\.name)
    #expect(mapped.payload == "caf\u{E9}" && mapped.status == .ok && mapped.data == response.data)
    #expect(mapped.text == response.text && mapped.text.contains("caf\u{E9}"))
    #expect(throws: CancellationError.self) { try response.map { _ -> Int in throw CancellationError() } }
  }

  @Test func `a task is sent to its own server`() async throws {
    let stub = StubServer(.widget)
    #expect(try await GetWidget().on(stub.server).send() == Widget())
    #expect(try await Remove().on(stub.server).send().status == .ok)
    try await Server.withDefault(stub.server) {
      #expect(try await AddWidget().send() == Widget())
      try await Remove().send()
    }
    #expect(stub.requests.map(\.method) == [.get, .delete, .post, .delete])
  }

  @Test func `a server replaces the task's server and keeps the task's modifiers`() async throws {
    let (stub, other) = (StubServer(.widget), StubServer(.widget))
    let task = GetWidget().header("X", "1").on(other.server).query("a", "b")
    #expect(try await stub.server.send(task) == Widget())
    #expect(stub.urls == ["https://shop.test/widgets/7?a=b"] && stub.requests.first?.headers["X"] == "1")
    #expect(other.requests.isEmpty)
  }

  @Test func `the generic constraint determines whether send returns the payload or the response`() async throws {
    let stub = StubServer(.widget)
    func payload<Described: PayloadDownloadingTask>(_ task: Described) async throws -> Described.DownloadPayload {
      try await stub.server.send(task)
    }
    func response(_ task: some ServerTask) async throws -> HTTPResponse { try await stub.server.send(task) }
    #expect(try await payload(GetWidget()) == Widget())
    #expect(try await response(GetWidget()).status == .ok)
    #expect(try await response(Remove()).status == .ok)
  }

  @Test func `throws the error of a failed task`() async throws {
    let stub = StubServer(.status(404))
    #expect(await taskError { _ = try await stub.server.send(GetWidget()) }?.status == 404)
    #expect(await taskError { try await stub.server.send(Remove()) }?.status == 404)
    #expect(await taskError { try await stub.server.send(.post("x")) }?.status == 404)
    #expect(await taskError { let _: Widget = try await stub.server.send(.get("x")) }?.status == 404)
  }

  @Test func `returns the body unchanged`() async throws {
    let stub = StubServer(.data(Data("hi".utf8), .plainText))
    #expect(try await GetWidget().on(stub.server).data() == Data("hi".utf8))
    #expect(try await URLTask(.known("https://shop.test/x")).on(stub.server).send() == Data("hi".utf8))
  }

  @Test func `a server has a method for every way to receive a response`() async throws {
    let stub = StubServer(.widget)
    let (server, bytes) = (stub.server, Data(#"{"id":7,"name":"Sprocket"}"#.utf8))
    let response = try await server.response(GetWidget(id: 7))
    let other: TaskResponse<Widget> = try await server.response(.get("widgets/7"))
    #expect(response.payload == Widget() && other.payload == Widget() && response.metrics.attemptCount == 1)
    #expect(try await server.data(GetWidget(id: 7)) == bytes)
    #expect(try await server.data(.get("widgets/7")) == bytes)
    #expect(try await server.stream(GetWidget(id: 7)).body.collect() == bytes)
    #expect(try await server.stream(.get("widgets/7")).body.collect() == bytes)
    try await withFolder { folder in
      let (one, two) = (folder.appendingPathComponent("1"), folder.appendingPathComponent("2"))
      let first = try await server.download(GetWidget(id: 7), to: one)
      let second = try await server.download(.get("widgets/7"), to: two)
      #expect(first.payload == one && second.payload == two)
      #expect(try Data(contentsOf: one) == bytes && Data(contentsOf: two) == bytes)
      let third = try await server.download(GetWidget(id: 7), into: folder)
      #expect(try Data(contentsOf: third.payload) == bytes)
    }
    #expect(stub.requests.count == 9 && Set(stub.urls) == ["https://shop.test/widgets/7"])
  }

  @Test func `a server returns the events of a task and of an endpoint`() async throws {
    let type: MediaType = "text/event-stream"
    let stub = StubServer(.data(Data("data: a\n\ndata: end\n\n".utf8), type))
    for events in [stub.server.events(PlainTask(), until: "end"), stub.server.events(.get("x"), until: "end")] {
      var data: [String] = []
      for try await event in events { data.append(event.data) }
      #expect(data == ["a"])
    }
    #expect(stub.requests.count == 2)
  }

  @Test func `a hook can decode the body before the payload is decoded`() async throws {
    struct Checked: GET<Widget> {
      let path = "w/7"
      func postProcess(response: HTTPResponse) async throws {
        let answer: JSONValue = try await response.decoded()
        if let problem = answer["problem"]?.string { throw TaskError(.init("problem"), problem, response: response) }
      }
    }
    #expect(try await StubServer(.widget).server.send(Checked()) == Widget())
    let failing = StubServer(.json(#"{"problem":"sold out"}"#)).server
    let error = await taskError { _ = try await failing.send(Checked()) }
    #expect(error?.code == .init("problem") && error?.status == 200)
    #expect("\(try #require(error))".hasPrefix("GET https://shop.test/w/7: sold out"))
  }

  @Test func `a hook can read the body of a call without a payload, unless the body is too long`() async throws {
    struct Do: POST<NoContent, NoContent> {
      let path = "do"
      func postProcess(response: HTTPResponse) async throws { _ = try await response.decoded(JSONValue.self) }
    }
    let stub = StubServer(.json(#"{"done":true}"#)) { $0.maximumErrorBodySize = 20 }
    try await stub.server.send(Do())
    try await Do().on(stub.server).run()
    let long = StubServer(.json(#"{"done":true,"note":"long"}"#)) { $0.maximumErrorBodySize = 20 }
    let error = await taskError { try await long.server.send(Do()) }
    #expect(error?.code == .bodyConsumed, "\(String(describing: error))")
    #expect(error?.reason.hasPrefix("the body of 27 bytes was discarded because the task has no payload") == true)
    _ = try await long.server.response(Do())
  }

  @Test func `an error from decoding in a hook names the request and the path of the value`() async throws {
    struct Checked: GET<JSONValue> {
      let path = "w/7"
      func postProcess(response: HTTPResponse) async throws { _ = try await response.decoded(Widget.self) }
    }
    let server = StubServer(.json(#"{"id":"seven"}"#)).server
    let error = try #require(await taskError { _ = try await server.send(Checked()) })
    #expect(error.code == .decodingFailed && error.status == 200 && error.body == Data(#"{"id":"seven"}"#.utf8))
    #expect(
      "\(error)".hasPrefix("GET https://shop.test/w/7: can't decode Widget from 14 bytes of application/json: at id"))
  }

  @Test func `an error from decoding a response with a bad status names the status`() async throws {
    let stub = StubServer(.data(Data("<p>".utf8), "text/html", 500)) { $0.reportBadHTTPStatusAsError = false }
    let error = try #require(await taskError { _ = try await stub.server.send(GetWidget(id: 7)) })
    #expect(error.code == .decodingFailed && error.status == 500)
    #expect("\(error)".hasPrefix("GET https://shop.test/widgets/7: 500 Internal Server Error: can't decode Widget"))
  }

  @Test func `measures the time in the queue and the duration of a call`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, clock in
      try await clock.sleep(for: .seconds(2))
      return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    async let first = shop.server.response(GetWidget(id: 7))
    await shop.clock.sleepers(count: 1)
    async let second = shop.server.response(GetWidget(id: 8))
    #expect(await eventually { shop.manager.waitingCount == 1 })
    await shop.clock.pass(.seconds(2), sleepers: 1)
    let one = try await first.metrics
    await shop.clock.pass(.seconds(2), sleepers: 1)
    let two = try await second.metrics
    #expect(one.queued == .zero && one.elapsed == .seconds(2))
    #expect(two.queued == .seconds(2) && two.elapsed == .seconds(4))
  }

  @Test func `a body longer than the limit is not decoded`() async throws {
    let response = try await StubServer(.widget).server.stream(GetWidget())
    await #expect(throws: HTTPBodyLimitError.self) { try await response.decoded(Widget.self, upTo: 8) }
  }

  // MARK: Endpoints

  @Test func `infers an endpoint's payload from context`() async throws {
    let stub = StubServer(.widget)
    let widget: Widget = try await stub.server.send(.get("w/7", query: ["a": "b"]))
    let none: Widget? = try await stub.server.send(.get("w/7"))
    let json: JSONValue = try await stub.server.send(.get("w/7"))
    #expect(widget == Widget() && none == Widget() && json["id"] == 7)
    #expect(stub.urls == ["https://shop.test/w/7?a=b", "https://shop.test/w/7", "https://shop.test/w/7"])
  }

  @Test func `sends an endpoint of each method without a body`() async throws {
    let stub = StubServer(.widget)
    let server = stub.server
    try await server.send(.post("x"))
    try await server.send(.put("x"))
    try await server.send(.patch("x"))
    try await server.send(.delete("x"))
    try await server.send(.request("PURGE", "x"))
    for widget: Widget in [
      try await server.send(.get("x")), try await server.send(.post("x")), try await server.send(.put("x")),
      try await server.send(.patch("x")), try await server.send(.delete("x")),
      try await server.send(.request(.options, "x")),
    ] { #expect(widget == Widget()) }
    #expect(
      stub.requests.map(\.method) == [
        .post, .put, .patch, .delete, "PURGE", .get, .post, .put, .patch, .delete, .options,
      ])
    #expect(stub.requests.allSatisfy { $0.body.isEmpty })
  }

  @Test func `sends an endpoint of each method with a payload`() async throws {
    let stub = StubServer(.widget)
    let server = stub.server
    let body = Widget()
    try await server.send(.post("x", body: body))
    try await server.send(.put("x", body: body))
    try await server.send(.patch("x", body: body))
    try await server.send(.delete("x", body: body))
    try await server.send(.request("MERGE", "x", body: body))
    for widget: Widget in [
      try await server.send(.post("x", body: body)), try await server.send(.put("x", body: body)),
      try await server.send(.patch("x", body: body)), try await server.send(.delete("x", body: body)),
      try await server.send(.query("x", body: body)), try await server.send(.request("MERGE", "x", body: body)),
    ] { #expect(widget == Widget()) }
    #expect(
      stub.requests.map(\.method) == [
        .post, .put, .patch, .delete, "MERGE", .post, .put, .patch, .delete, .query, "MERGE",
      ])
    let json = Data(#"{"id":7,"name":"Sprocket"}"#.utf8)
    #expect(stub.requests.allSatisfy { $0.body.data == json && $0.headers[.contentType] == "application/json" })
  }

  @Test func `sends an endpoint with any kind of body`() async throws {
    let stub = StubServer(.widget)
    let server = stub.server
    try await server.send(.post("x", body: .text("hi")))
    try await server.send(.put("x", body: .form(["a": "b"])))
    try await server.send(.patch("x", body: .text("hi")))
    try await server.send(.delete("x", body: .text("hi")))
    try await server.send(.post("x", form: MultipartForm([.text("a", "b")])))
    try await server.send(.request(.put, "x", form: ["a": 1]))
    let added: Widget = try await server.send(.post("x", form: ["a": "b c", "d": nil]))
    let found: Widget = try await server.send(.query("x", body: .text("hi")))
    #expect(found == Widget() && added == found)
    #expect(stub.requests.map(\.method) == [.post, .put, .patch, .delete, .post, .put, .post, .query])
    #expect(stub.requests[5].body.data == Data("a=1".utf8) && stub.requests[6].body.data == Data("a=b+c".utf8))
    let types = stub.requests.map { $0.headers[.contentType]?.prefix { $0 != ";" } }
    #expect(
      types == [
        "text/plain", "application/x-www-form-urlencoded", "text/plain", "text/plain", "multipart/form-data",
        "application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "text/plain",
      ])
  }

  @Test func `sends stored and modified endpoints, and endpoints without a payload`() async throws {
    let stub = StubServer(.widget)
    let endpoint = Endpoint<Void, Widget>.get("w/7")
    #expect(try await stub.server.send(endpoint) == Widget())
    #expect(try await stub.server.send(endpoint.timeout(.seconds(3))) == Widget())
    #expect(try await endpoint.on(stub.server).send() == Widget())
    #expect(try await stub.server.send(.seventh) == Widget())
    try await stub.server.send(Endpoint<Void, Void>.post("x").header("X", "1"))
    try await Endpoint<Void, Void>.post("x").on(stub.server).send()
    try await stub.server.send(Endpoint<Void, NoContent>.get("x"))
    #expect(stub.requests.count == 7)
  }

  // MARK: Synonyms

  @Test func `other libraries' method names have the same effect`() async throws {
    let stub = StubServer(.widget)
    #expect(try await GetWidget().on(stub.server).download() == Widget())
    #expect(try await AddWidget().on(stub.server).upload().status == .ok)
    #expect(try await GetWidget().on(stub.server).run().status == .ok)
    #expect(try await GetWidget().on(stub.server).downloadData() == Data(#"{"id":7,"name":"Sprocket"}"#.utf8))
    try await Endpoint<Void, Void>.delete("x").on(stub.server).download()
    #expect(stub.requests.map(\.method) == [.get, .post, .get, .get, .delete])
  }
}

extension Endpoint<Void, Widget> {
  fileprivate static var seventh: Self { .get("w/7") }
}
