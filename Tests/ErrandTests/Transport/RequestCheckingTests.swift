import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RequestCheckingTests {
  /// Returns the error for a request that is rejected before it is sent.
  private func refusal(_ request: HTTPRequest, options: (inout TransferOptions) -> Void = { _ in }) async throws
    -> TaskError
  {
    let stub = StubServer(.status(.ok))
    let task = URLTask(request.url, method: request.method, headers: request.headers, body: request.body).on(
      stub.server)
    let error = try #require(
      await #expect(throws: TaskError.self) { try await task.retry(upTo: 3, after: .zero).run() })
    #expect(stub.requests.isEmpty, "the request must not be sent")
    #expect(error.attempts.count <= 1, "a retry would be rejected too")
    return error
  }

  private let url = URL.known("https://shop.test/widgets")

  @Test func `rejects a head that is too large and names its largest field`() async throws {
    let headers: HTTPHeaders = ["X-Small": "a", "X-Large": String(repeating: "b", count: 70_000), "X-Last": "c"]
    let error = try await refusal(HTTPRequest(.get, url, headers: headers))
    #expect(error.code == .badRequest)
    #expect(
      error.reason.contains("X-Large") && error.reason.contains("61440") && error.reason.contains("70019"), "\(error)")
  }

  @Test func `counts many small fields towards the size limit of a head`() async throws {
    let fields = (0..<2000).map { HTTPHeaders.Field(HTTPHeaderName("X-\($0)"), String(repeating: "v", count: 40)) }
    #expect(try await refusal(HTTPRequest(.get, url, headers: HTTPHeaders(fields))).code == .badRequest)
  }

  @Test func `rejects a URL that is too long and keeps the description short`() async throws {
    let long = try #require(URL(string: "https://shop.test/?q=\(String(repeating: "x", count: 1 << 20))"))
    let error = try await refusal(HTTPRequest(.get, long))
    #expect(error.code == .badURL && error.reason.contains("the URL"), "\(error.reason)")
    #expect(error.description.utf8.count < 700, "\(error.description.utf8.count)")
    #expect(error.description.contains("https://shop.test/?q=xxx"))
  }

  @Test func `truncates a long name in the error`() async throws {
    let name = HTTPHeaderName(String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(.get, url, headers: [name: "v"])).description.utf8.count < 700)
    let broken = HTTPHeaderName("a b" + String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(.get, url, headers: [broken: "v"])).description.utf8.count < 700)
    let method = HTTPMethod("a b" + String(repeating: "n", count: 1 << 20))
    #expect(try await refusal(HTTPRequest(method, url)).description.utf8.count < 700)
  }

  @Test(arguments: [HTTPMethod.head, .trace])
  func `rejects a body for a method that does not allow one`(method: HTTPMethod) async throws {
    let stream = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
    for body in [HTTPBody.text("x"), .bytes(Data()), stream] {
      let error = try await refusal(HTTPRequest(method, url, body: body))
      #expect(error.code == .badRequest && error.reason.contains("\(method)"), "\(error)")
    }
  }

  @Test(arguments: ["CONNECT", "PRI"]) func `rejects CONNECT and PRI`(name: String) async throws {
    let error = try await refusal(HTTPRequest(HTTPMethod(name), url))
    #expect(error.code == .badRequest && error.reason.contains(name))
  }

  @Test func `rejects an invalid host with a reason`() async throws {
    let numbers = try await refusal(HTTPRequest(.get, .known("https://127.999.1.1/x")))
    #expect(numbers.code == .badURL && numbers.reason.contains("ends in a number"), "\(numbers)")
    let slash = try await refusal(HTTPRequest(.get, .known("https://a.test%2Fb/x")))
    #expect(slash.code == .badURL && slash.reason.contains("delimiter"), "\(slash)")
    let letters = try await refusal(HTTPRequest(.get, .known("https://%CC%80a.test/x")))
    #expect(letters.code == .badURL && letters.reason.contains("UTS 46"), "\(letters)")
  }
}
