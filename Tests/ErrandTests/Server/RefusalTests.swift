import Errand
import ErrandTesting
import Foundation
import Testing

/// Error messages for rejected statuses.
@Suite(.timeLimit(.minutes(1))) struct RefusalTests {
  private func refusal(_ body: String, _ type: MediaType, of task: Modified<PlainTask>? = nil) async -> TaskError? {
    let transport = StubTransport { request in
      HTTPResponse(
        422, url: request.url, headers: [.contentType: type.rawValue], body: HTTPResponseBody(Data(body.utf8)))
    }
    let server = Server("https://shop.test", transport: transport)
    return await #expect(throws: TaskError.self) { try await (task ?? PlainTask().retry(.never)).on(server).run() }
  }

  @Test func `the reason contains a problem document's title and detail`() async {
    let problem = #"{"title":"Out of stock","detail":"widget 7,\nsee https://shop.test/?token=s3cret","status":422}"#
    let error = await refusal(problem, "application/problem+json; charset=utf-8")
    let words = "Out of stock: widget 7, see https://shop.test/?token=<redacted>"
    #expect(error?.reason == "422 Unprocessable Content: \(words)")
    #expect(error?.problem?.title == "Out of stock" && error?.bodyText == problem)
    #expect(await refusal(#"{"detail":"d"}"#, .problem)?.reason == "422 Unprocessable Content: d")
    #expect(await refusal("torn", .problem)?.reason == "422 Unprocessable Content: torn")
  }

  @Test func `the reason quotes the first 200 characters of a redacted text body on one line`() async {
    #expect(
      await refusal("no\n such  widget, password=s3cret", .plainText)?.description
        == "GET https://shop.test/plain: 422 Unprocessable Content: no such widget, password=<redacted>")
    #expect(
      await refusal(#"{"error":"no","password":"s3cret"}"#, .json)?.reason
        == #"422 Unprocessable Content: {"error":"no","password":"<redacted>"}"#)
    let long = await refusal(String(repeating: "é", count: 5000), .plainText)
    #expect(long?.reason == "422 Unprocessable Content: \(String(repeating: "é", count: 200))…")
  }

  @Test(
    arguments: [
      ("text/plain; charset=iso-8859-1", [0x47, 0x72, 0xF6, 0xDF, 0x65]),
      ("text/plain; charset=utf-16le", [0x47, 0, 0x72, 0, 0xF6, 0, 0xDF, 0, 0x65, 0]),
      ("text/plain; charset=utf-16le", [0x47, 0, 0x72, 0, 0xF6, 0, 0xDF, 0, 0x65, 0, 0x41]),
      (
        "text/plain; charset=utf-32be",
        [0, 0, 0, 0x47, 0, 0, 0, 0x72, 0, 0, 0, 0xF6, 0, 0, 0, 0xDF, 0, 0, 0, 0x65, 0, 0, 0]
      ),
      ("application/json; charset=iso-8859-1", [0x47, 0x72, 0xC3, 0xB6, 0xC3, 0x9F, 0x65]),
      ("text/plain; charset=x-none", [0x47, 0x72, 0xC3, 0xB6, 0xC3, 0x9F, 0x65]),
    ] as [(String, [UInt8])]) func `decodes a text body in its declared charset`(
      type: String, bytes: [UInt8]
    ) async
  {
    let transport = StubTransport { request in
      HTTPResponse(400, url: request.url, headers: [.contentType: type], body: HTTPResponseBody(Data(bytes)))
    }
    let server = Server("https://shop.test", transport: transport)
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
    #expect(error?.bodyText == "Größe" && error?.reason == "400 Bad Request: Größe", "\(error.map { "\($0)" } ?? "")")
    #expect(error?.body == Data(bytes))
  }

  @Test func `truncates a URL to 200 characters in the description`() async {
    let stub = StubServer(.status(404))
    let path = String(repeating: "x", count: 400)
    let error = await #expect(throws: TaskError.self) { try await PlainTask(path: path).on(stub.server).run() }
    let url = "https://shop.test/\(path)"
    #expect(error?.url == url, "the property contains the entire URL")
    let line = "GET \(url.prefix(200))… (\(url.utf8.count) bytes): 404 Not Found: there is nothing at that URL"
    #expect(error?.description == line, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [
    (HTTPStatus(418), "418: the server rejects the request"),
    (.serviceUnavailable, "503 Service Unavailable: the server is overloaded or down for maintenance"),
    (HTTPStatus(412), "412 Precondition Failed: the resource has changed since it was read or already exists"),
    (HTTPStatus(302), "302 Found: the redirect has no Location"),
  ])
  func `explains a status without a body`(_ status: HTTPStatus, _ words: String) async {
    let stub = StubServer(.status(status))
    let error = await taskError { try await GetWidget().on(stub.server).retry(.never).run() }
    #expect(error.map { "\($0)" } == "GET https://shop.test/widgets/7: \(words)")
  }

  @Test func `omits binary, empty and hidden bodies`() async {
    #expect(await refusal("x", "image/png")?.reason == "422 Unprocessable Content")
    #expect(await refusal("", .plainText)?.reason == "422 Unprocessable Content")
    let hidden = PlainTask().retry(.never).recording([.url])
    #expect(await refusal("x", .plainText, of: hidden)?.reason == "422 Unprocessable Content")
  }
}
