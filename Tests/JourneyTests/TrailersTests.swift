import Errand
import ErrandTesting
import Foundation
import Testing

/// Request trailers (RFC 9110 §6.5).
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct TrailersTests {
  private struct Send: ServerPUTTask, UploadingTask {
    let body: HTTPBody
    let path = "echo/x"
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
  }

  @Test func `announces trailers and sends them after the body`() async throws {
    let shop = try Shop()
    try await withFolder { folder in
      let file = folder.appendingPathComponent("body")
      try Data(repeating: 7, count: 300_000).write(to: file)
      let bodies: [(HTTPBody, Int)] = [
        (.bytes(Data("hello".utf8)), 5), (.file(file), 300_000), (.bytes(Data()), 0),
        (
          .stream(length: 3) {
            AsyncStream { chunks in
              chunks.yield(Data("abc".utf8)); chunks.finish()
            }
          }, 3
        ),
      ]
      for (body, size) in bodies {
        let sent = body.trailers(["X-Sum", "X-Note", "X-None"]) { ["X-Sum": "7", "X-Note": "", "X-Sum": "8"] }
        let back = try await Send(body: sent).on(shop.server).downloadData()
        let request = try #require(shop.mock.requests.last)
        #expect(back.count == size && request.bodyLength == size && request.isBodyComplete)
        #expect(request.headers.values(for: "Trailer") == ["X-Sum, X-Note, X-None"])
        #expect(request.headers[.transferEncoding] == "chunked" && request.headers[.contentLength] == nil)
        #expect(request.trailers.map { "\($0.name): \($0.value)" } == ["X-Sum: 7", "X-Note: ", "X-Sum: 8"])
      }
      // A reused handle sends no trailers of the previous request.
      _ = try await Send(body: .stream { AsyncStream { $0.finish() } }).on(shop.server).run()
      #expect(shop.mock.requests.last?.trailers.isEmpty == true)
      #expect(shop.mock.requests.last?.headers["Trailer"] == nil)
    }
  }

  @Test func `computes trailers after the body was sent, and again for a retry`() async throws {
    let shop = try Shop { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }
    let sum = Shared(0)
    let asked = Shared<[Int]>([])
    let body = HTTPBody.stream {
      sum.withLock { $0 = 0 }
      return AsyncStream<Data> { chunks in
        for size in [1000, 2000, 3000] {
          sum.withLock { $0 += size }
          chunks.yield(Data(count: size))
        }
        chunks.finish()
      }
    }.trailers(["X-Size"]) {
      let size = sum.withLock { $0 }
      asked.withLock { $0.append(size) }
      return ["X-Size": "\(size)"]
    }
    shop.mock.enqueue(.status(503))
    shop.mock.enqueue(.status(.ok))
    try await Send(body: body).gzipped().on(shop.server).progress { _ in }.upload()
    #expect(asked.withLock { $0 } == [6000, 6000])
    #expect(shop.mock.requests.map { $0.trailers["X-Size"] } == ["6000", "6000"])
    #expect(shop.mock.requests.last?.headers[.contentEncoding] == "gzip")
  }

  @Test func `a redirect that keeps the body keeps the trailers`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.status(307, headers: [.location: "/echo/y"]))
    let body = HTTPBody.text("hi").trailers(["X-Sum"]) { ["X-Sum": "7"] }
    #expect(try await Send(body: body).on(shop.server).downloadData() == Data("hi".utf8))
    #expect(shop.mock.requests.map { $0.trailers["X-Sum"] } == ["7", "7"])
  }

  @Test(arguments: [
    "Content-Length", "transfer-encoding", "Host", "Authorization", "Cookie", "Content-Type", "Trailer", "Range", "a b",
    "X\r\n",
  ]) func `sends nothing if a trailer is a field that is not allowed in trailers`(name: String) async throws {
    let shop = try Shop()
    let body = HTTPBody.text("hi").trailers([HTTPHeaderName(name)]) { [:] }
    let error = await #expect(throws: TaskError.self) { try await Send(body: body).on(shop.server).upload() }
    #expect(error?.code == .badRequest && error?.wasNotSent == true, "\(String(describing: error))")
    #expect(shop.mock.requests.isEmpty)
  }

  private struct NoSum: Error {}

  @Test func `the call fails if a trailer is unannounced, is invalid or can't be computed`() async throws {
    let shop = try Shop { $0.retryPolicy = .never }
    for (fields, words) in [
      (["X-Other": "1"] as HTTPHeaders, "was not announced"), (["X-Sum": "1\r\nHost: x"], "has a line break"),
    ] {
      let body = HTTPBody.text("hi").trailers(["X-Sum"]) { fields }
      let error = await #expect(throws: TaskError.self) { try await Send(body: body).on(shop.server).upload() }
      #expect(error?.code == .badRequest && error?.reason.contains(words) == true, "\(error?.reason ?? "")")
      #expect(error?.wasNotSent == false)
    }
    let body = HTTPBody.text("hi").trailers(["X-Sum"]) { throw NoSum() }
    await #expect(throws: NoSum.self) { try await Send(body: body).on(shop.server).upload() }
    #expect(await eventually { shop.mock.requests.allSatisfy { !$0.isBodyComplete } && shop.isQuiet })
  }

  #if os(Linux)
    @Test func `an HTTP/2 transport rejects trailers`() async throws {
      var configuration = CurlTransport.Configuration()
      configuration.version = .http2PriorKnowledge
      let request = HTTPRequest(
        .put, try #require(URL(string: "http://127.0.0.1:9")),
        body: .text("hi").trailers(["X-Sum"]) { ["X-Sum": "7"] })
      let transport = try CurlTransport(configuration)
      let error = await #expect(throws: TaskError.self) { try await transport.send(request) }
      #expect(error?.code == .transportUnavailable && error?.wasNotSent == true)
      #expect(error?.reason.contains("HTTP/1.1") == true)
    }
  #endif
}
