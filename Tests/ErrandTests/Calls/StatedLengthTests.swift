import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A Content-Length set by a task applies only to the task's own body.
@Suite(.timeLimit(.minutes(1))) struct StatedLengthTests {
  private struct Put: ServerPUTTask {
    var size = 5000
    var headers: HTTPHeaders { [.contentLength: "\(size)", "X-A": "1"] }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .bytes(Data(count: size), type: .plainText) }
  }

  private func lengths(_ stub: StubServer) -> [String?] { stub.requests.map { $0.headers[.contentLength] } }

  @Test func `sends a correct Content-Length, except for HEAD requests and compressed bodies`() async throws {
    let stub = StubServer(.status(.ok))
    try await Put().on(stub.server).run()
    _ = try await Put().on(stub.server).head()
    try await Put().gzipped().on(stub.server).run()
    #expect(lengths(stub) == ["5000", nil, nil])
    #expect(stub.requests.allSatisfy { $0.headers["X-A"] == "1" })
    for request in stub.requests { try request.check() }
  }

  /// Sets Content-Length, as signing steps do.
  private struct Stating: PerCallStep {
    let body: HTTPBody?
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      if let body { request.body = body }
      request.headers[.contentLength] = try request.body.length().map { "\($0)" }
      return try await next(request)
    }
  }

  /// A body that grows with each attempt.
  private struct Growing: ServerPUTTask {
    let count = Shared(0)
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .bytes(
        Data(
          count: count.withLock { count in
            count += 1
            return count
          }))
    }
  }

  @Test(arguments: [false, true]) func `a step's Content-Length applies to the body that the step received`(
    replaces: Bool
  )
    async throws
  {
    let stub = StubServer(.status(503), .status(.ok)) {
      $0.perCallSteps = [Stating(body: replaces ? .bytes(Data(count: 9)) : nil)]
    }
    try await Growing().retry(upTo: 1, after: .zero).on(stub.server).run()
    #expect(stub.requests.map { $0.body.data?.count } == (replaces ? [9, 9] : [1, 2]))
    #expect(lengths(stub).first == (replaces ? "9" : "1"))
    for request in stub.requests { try request.check() }
  }

  @Test func `a redirect that drops the body also drops Content-Length`() async throws {
    let stub = StubServer(.status(307, [.location: "/b"]), .status(.ok)) {
      $0.redirectPolicy = .decide { _, proposal in
        var next = proposal
        (next.method, next.body) = (.get, .empty)
        return next
      }
    }
    try await Put().on(stub.server).run()
    #expect(lengths(stub) == ["5000", nil])
  }

  @Test func `rejects a request if any Content-Length value is wrong`() throws {
    func check(_ headers: HTTPHeaders, _ body: HTTPBody = .bytes(Data(count: 4))) throws {
      try HTTPRequest(.post, .known("https://shop.test/"), headers: headers, body: body).check()
    }
    try check([.contentLength: "4"])
    #expect(throws: TaskError.self) { try check(["Content-Length": "4", "Transfer-Encoding": "chunked"]) }
    var several: HTTPHeaders = [.contentLength: "4"]
    several.add("5", for: .contentLength)
    #expect(throws: TaskError.self) { try check(several) }
    let missing = HTTPBody.file(URL(fileURLWithPath: "/nowhere/at/all"))
    let error = #expect(throws: TaskError.self) { try check([.contentLength: "4"], missing) }
    #expect(error?.code == .unreadableBody)
  }
}
