import Errand
import ErrandHTTPTypes
import Foundation
import HTTPTypes
import Testing

struct HTTPResponseTests {
  private static func url() throws -> URL { try #require(URL(string: "https://shop.example/widgets/7")) }

  @Test func `converts status and fields and keeps cookies separate`() async throws {
    let headers: HTTPHeaders = ["Set-Cookie": "a=1; Path=/", "Content-Type": "text/plain", "set-cookie": "b=2"]
    let response = Errand.HTTPResponse(.notFound, url: try Self.url(), headers: headers)
    let theirs = try HTTPTypes.HTTPResponse(response)
    #expect(theirs.status.code == 404)
    #expect(theirs.status.reasonPhrase == "Not Found")
    #expect(theirs.headerFields.map(\.name.rawName) == ["Set-Cookie", "Content-Type", "set-cookie"])
    #expect(theirs.headerFields.map(\.value) == ["a=1; Path=/", "text/plain", "b=2"])

    let back = try Errand.HTTPResponse(theirs, url: try Self.url(), body: HTTPResponseBody(Data("gone".utf8)))
    #expect(back.status == .notFound)
    #expect(back.headers == headers)
    #expect(back.url == (try Self.url()))
    #expect(try await back.body.collect() == Data("gone".utf8))
  }

  @Test(arguments: [-1, 0, 99, 1000]) func `rejects a status without three digits`(_ code: Int) throws {
    let response = Errand.HTTPResponse(HTTPStatus(code), url: try Self.url())
    let error = #expect(throws: TaskError.self) { try HTTPTypes.HTTPResponse(response) }
    #expect(error?.code == .badResponse)
    #expect(error?.wasNotSent == false)
  }

  @Test func `rejects a field that would be changed`() throws {
    let response = Errand.HTTPResponse(.ok, url: try Self.url(), headers: ["X-Bad": "a\u{0}b"])
    let error = #expect(throws: TaskError.self) { try HTTPTypes.HTTPResponse(response) }
    #expect(error?.code == .badResponse)
    #expect(error?.reason == "HTTPTypes can't represent the field 'X-Bad'")
  }
}
