import Errand
import ErrandTesting
import Foundation
import Testing

/// Parameters in the query or in the body, depending on the method.
@Suite(.timeLimit(.minutes(1))) struct ParametersTests {
  private struct Search: ServerTask {
    var httpMethod = HTTPMethod.automatic
    let path = "search?a=1"
    let parameters = ["q": "a b"]
  }

  private struct WithBody: ServerPOSTTask, DataUploadingTask {
    let uploadData = Data("x".utf8)
    let parameters = ["q": "a b"]
  }

  private struct AsForm: ServerPUTTask {
    struct Values: Encodable {
      let b = 1
      let a = 2
    }
    let parameters = Values()
    let encoder = FormEncoder()
  }

  @Test(arguments: [HTTPMethod.automatic, .get, .head, .delete, .options])
  func `appends parameters to the query of a method without content`(method: HTTPMethod) async throws {
    let stub = StubServer()
    try await Search(httpMethod: method).on(stub.server).run()
    #expect(stub.requests.first?.url.absoluteString == "https://shop.test/search?a=1&q=a%20b")
    #expect(stub.requests.first?.body.isEmpty == true)
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, "REPORT"])
  func `sends parameters in the body of a method with content, encoded like a payload`(method: HTTPMethod) async throws
  {
    let stub = StubServer()
    try await Search(httpMethod: method).on(stub.server).run()
    #expect(stub.requests.first?.url.absoluteString == "https://shop.test/search?a=1")
    #expect(stub.requests.first?.body.data == Data(#"{"q":"a b"}"#.utf8))
    #expect(stub.requests.first?.headers[.contentType] == "application/json")
  }

  @Test func `encodes parameters with the task's encoder`() async throws {
    let stub = StubServer()
    try await AsForm().on(stub.server).run()
    #expect(stub.requests.first?.body.data == Data("b=1&a=2".utf8))
    #expect(stub.requests.first?.headers[.contentType] == "application/x-www-form-urlencoded")
  }

  private struct Maybe: ServerPOSTTask {
    let parameters: [String: String]?
    let path = "search"
  }

  @Test func `omits nil parameters`() async throws {
    let stub = StubServer()
    try await Maybe(parameters: nil).on(stub.server).run()
    try await Maybe(parameters: ["q": "a"]).on(stub.server).run()
    #expect(stub.requests.map { $0.body.isEmpty } == [true, false])
    #expect(stub.requests.map { $0.headers.contains(.contentType) } == [false, true])
  }

  @Test func `sends parameters in the query if the task has its own body`() async throws {
    let stub = StubServer()
    try await WithBody().on(stub.server).run()
    #expect(stub.requests.first?.url.query() == "q=a%20b" && stub.requests.first?.body.data == Data("x".utf8))
  }

  @Test func `head() sends query parameters but not body parameters`() async throws {
    let stub = StubServer()
    _ = try await Search().on(stub.server).head()
    _ = try await Search(httpMethod: .post).on(stub.server).head()
    #expect(stub.requests.map { $0.url.query() } == ["a=1&q=a%20b", "a=1"])
    #expect(stub.requests.allSatisfy { $0.method == .head && $0.body.isEmpty })
  }

  private struct Listed: ServerTask {
    var httpMethod = HTTPMethod.get
    let parameters = ["tag": ["a", "b"]]
    let encoder = FormEncoder(FormStyle(lists: .brackets))
  }

  @Test func `encodes parameters the same way in a query and in a body`() async throws {
    let stub = StubServer()
    for method in [HTTPMethod.get, .post] { try await Listed(httpMethod: method).on(stub.server).run() }
    #expect(stub.requests.first?.url.query() == "tag%5B%5D=a&tag%5B%5D=b")
    #expect(stub.requests.last?.body.data == Data("tag%5B%5D=a&tag%5B%5D=b".utf8))
  }

  private struct Odd: ServerTask { let parameters = [1, 2] }

  @Test func `parameters without names fail the call before anything is sent`() async {
    let stub = StubServer()
    let error = await #expect(throws: TaskError.self) { try await Odd().on(stub.server).run() }
    #expect(error?.code == .encodingFailed && error?.reason.contains("the parameters of Odd") == true)
    #expect(stub.requests.isEmpty)
  }
}
