import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RequestCheckingTests {
  /// The error of a request that must not reach the transport.
  private func refusal(_ request: HTTPRequest, options: (inout TransferOptions) -> Void = { _ in }) async throws
    -> TaskError
  {
    let stub = StubServer(.status(.ok))
    let task = URLTask(request.url, method: request.method, headers: request.headers, body: request.body).on(
      stub.server)
    let error = try #require(
      await #expect(throws: TaskError.self) { try await task.retry(upTo: 3, after: .zero).run() })
    #expect(stub.requests.isEmpty, "nothing is sent")
    #expect(error.attempts.count <= 1, "it would be refused again")
    return error
  }

  private let url = URL.known("https://shop.test/widgets")

  @Test func `a head that is too large is refused, and the error names its largest field`() async throws {
    let headers: HTTPHeaders = ["X-Small": "a", "X-Large": String(repeating: "b", count: 70_000), "X-Last": "c"]
    let error = try await refusal(HTTPRequest(.get, url, headers: headers))
    #expect(error.code == .badRequest)
    #expect(
      error.reason.contains("X-Large") && error.reason.contains("61440") && error.reason.contains("70019"), "\(error)")
  }

  @Test func `many fields that are small together count as well`() async throws {
    let fields = (0..<2000).map { HTTPHeaders.Field(HTTPHeaderName("X-\($0)"), String(repeating: "v", count: 40)) }
    #expect(try await refusal(HTTPRequest(.get, url, headers: HTTPHeaders(fields))).code == .badRequest)
  }

  @Test func `a URL that is too long is refused, and its description stays a line`() async throws {
    let long = try #require(URL(string: "https://shop.test/?q=\(String(repeating: "x", count: 1 << 20))"))
    let error = try await refusal(HTTPRequest(.get, long))
    #expect(error.code == .badURL && error.reason.contains("the URL"), "\(error.reason)")
    #expect(error.description.utf8.count < 700, "\(error.description.utf8.count)")
    #expect(error.description.contains("https://shop.test/?q=xxx"))
  }

  @Test func `a name of a field that is too long does not fill the error`() async throws {
    let name = HTTPHeaderName(String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(.get, url, headers: [name: "v"])).description.utf8.count < 700)
    let broken = HTTPHeaderName("a b" + String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(.get, url, headers: [broken: "v"])).description.utf8.count < 700)
    let method = HTTPMethod("a b" + String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(method, url)).description.utf8.count < 700)
  }

  @Test(arguments: [HTTPMethod.head, .trace])
  func `a method without a body is not sent with one`(method: HTTPMethod) async throws {
    let stream = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
    for body in [HTTPBody.text("x"), .bytes(Data()), stream] {
      let error = try await refusal(HTTPRequest(method, url, body: body))
      #expect(error.code == .badRequest && error.reason.contains("\(method)"), "\(error)")
    }
  }

  @Test(arguments: ["CONNECT", "PRI"]) func `what is no method of a request is refused`(name: String) async throws {
    let error = try await refusal(HTTPRequest(HTTPMethod(name), url))
    #expect(error.code == .badRequest && error.reason.contains(name))
  }

  @Test func `a host that is none is an error that says why, and what is to be done`() async throws {
    let numbers = try await refusal(HTTPRequest(.get, .known("https://127.999.1.1/x")))
    #expect(numbers.code == .badURL && numbers.reason.contains("ends in a number"), "\(numbers)")
    let slash = try await refusal(HTTPRequest(.get, .known("https://a.test%2Fb/x")))
    #expect(slash.code == .badURL && slash.reason.contains("delimiter"), "\(slash)")
    let letters = try await refusal(HTTPRequest(.get, .known("https://%CC%80a.test/x")))
    #expect(letters.code == .badURL && letters.reason.contains("UTS 46"), "\(letters)")
  }
}
