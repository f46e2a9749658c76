import Errand
import ErrandTesting
import Foundation
import Testing

/// Payloads inside an envelope.
@Suite(.timeLimit(.minutes(1))) struct PayloadPathTests {
  private static let wrapped = #"{"data":{"widget":{"id":7,"name":"Sprocket"},"text":"aGk=","none":null},"took":3}"#

  private struct ByKeys: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    let payloadPath = ["data", "widget"]
  }

  private struct ByKey: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = [String: JSONValue]
    let payloadPath = "data"
  }

  private struct ByPath: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    var payloadPath: PayloadPath { ["data", "widget"] }
  }

  private func wrappedServer() async -> Server {
    let server = StubServer(.json(Self.wrapped)).server
    await server.update { $0.payloadPath = ["data", "widget"] }
    return server
  }

  @Test func `the payload path can be set by a task, endpoint defaults, a server or a modifier`() async throws {
    let stub = StubServer(.json(Self.wrapped))
    #expect(try await ByKeys().on(stub.server).download() == Widget())
    #expect(try await ByKey().on(stub.server).download()["text"] == "aGk=")
    #expect(try await ByPath().on(stub.server).response().payload == Widget())
    #expect(try await GetWidget().payloadPath(["data", "widget"]).on(stub.server).download() == Widget())
    #expect(try await GetWidget().on(wrappedServer()).download() == Widget())
    let defaults = EndpointDefaults(server: stub.server, payloadPath: ["data", "widget"])
    #expect(try await Endpoint<Void, Widget>.get("x", defaults: defaults).download() == Widget())
    let whole = try await Endpoint<Void, JSONValue>.get("x").payloadPath(.whole).on(wrappedServer()).download()
    #expect(whole["took"] == 3)
    for try await page in ByKeys().on(stub.server).pages() { #expect(page.payload == Widget()) }
  }

  @Test func `the server's payload path does not apply to bytes and text, but the task's does`() async throws {
    let server = await wrappedServer()
    #expect(try await Endpoint<Void, String>.get("x").on(server).download() == Self.wrapped)
    #expect(try await Endpoint<Void, Data>.get("x").on(server).download() == Data(Self.wrapped.utf8))
    let text = Endpoint<Void, String>.get("x").payloadPath(["data", "text"]).on(server)
    #expect(try await text.download() == "aGk=")
    let data = Endpoint<Void, Data>.get("x").payloadPath(["data", "text"]).on(server)
    #expect(try await data.download() == Data("hi".utf8))
  }

  @Test func `decodes null at the payload path or an empty body as nil for an optional payload`() async throws {
    let stub = StubServer(.json(Self.wrapped), .data(Data(), .json))
    let task = Endpoint<Void, Widget?>.get("x").payloadPath(["data", "none"]).on(stub.server)
    #expect(try await task.download() == nil)
    #expect(try await task.download() == nil)
  }

  @Test(arguments: [
    (#"{"data":{}}"#, "at data: no key 'widget'"), ("{}", "no key 'data'"), ("[]", "Expected"),
    (#"{"data":[]}"#, "at data: "), (#"{"data":{"widget":{"id":"x","name":"y"}}}"#, "at data.widget.id: "),
    (#"{"data":{"widget":null}}"#, "at data.widget"),
  ]) func `a decoding error names the payload path`(body: String, words: String) async {
    let stub = StubServer(.json(body))
    let error = await #expect(throws: TaskError.self) { try await ByKeys().on(stub.server).download() }
    #expect(error?.code == .decodingFailed)
    let start = "can't decode Widget at 'data.widget' from \(body.utf8.count) bytes of application/json: "
    #expect(error?.reason.hasPrefix(start) == true && error?.reason.contains(words) == true, "\(error?.reason ?? "")")
  }

  @Test func `the payload path does not apply to an error payload`() async {
    struct Problem: Decodable, Sendable { let code: String }
    let stub = StubServer(.status(404))
    await stub.server.update {
      $0.payloadPath = "data"
      $0.errorPayload = Problem.self
    }
    let transport = StubTransport { request in
      HTTPResponse(
        422, url: request.url, headers: [.contentType: "application/json"],
        body: HTTPResponseBody(Data(#"{"code":"sold-out"}"#.utf8)))
    }
    let server = Server(
      "https://shop.test", configuration: stub.server.configuration, transport: transport)
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(server).download() }
    #expect(error?.payload(as: Problem.self)?.code == "sold-out")
  }

  @Test func `applies the payload path to property lists`() async throws {
    let list = try PropertyListEncoder().encode(["data": ["widget": Widget()]])
    let stub = StubServer(.data(list, .propertyList))
    #expect(try await ByKeys().decoder(PropertyListDecoder()).on(stub.server).download() == Widget())
  }
}
