import Errand
import ErrandOpenAPI
import ErrandTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

struct ErrandTransportTests {
  private typealias Body = OpenAPIRuntime.HTTPBody

  @Test func `an operation is a call with its own name, path, query and headers`()
    async throws
  {
    let shop = try await Shop()
    shop.mock.enqueue(.json(#"{"id": 7}"#).header("X-Page", "2"))
    let fields: HTTPFields = [.accept: "application/json", .ifMatch: "\"a\""]
    let (head, body) = try await shop.send(
      .get, "/widgets/a%2Fb?tag=x%26y&tag=", below: "\(shop.mock.url)/v2/?key=1", fields: fields)
    #expect(head.status == .ok && head.headerFields[.contentType] == "application/json")
    #expect(head.headerFields[try #require(HTTPField.Name("X-Page"))] == "2")
    #expect(try await String(collecting: try #require(body), upTo: 100) == #"{"id": 7}"#)
    let request = try await shop.mock.nextRequest()
    #expect(request.method == .get && request.target == "/v2/widgets/a%2Fb?key=1&tag=x%26y&tag=")
    #expect(request.headers.values(for: .accept) == ["application/json"])
    #expect(request.headers[.ifMatch] == "\"a\"")
    #expect(Set(shop.events.events.map(\.task)) == ["listWidgets"])
  }

  @Test(arguments: [404, 500]) func `returns any status to the client with its body`(status: Int)
    async throws
  {
    let shop = try await Shop { $0.retryPolicy = .never }
    shop.mock.enqueue(.json(#"{"title": "no"}"#, status: HTTPStatus(status)))
    let (head, body) = try await shop.send()
    #expect(head.status.code == status)
    #expect(try await String(collecting: try #require(body), upTo: 100) == #"{"title": "no"}"#)
  }

  @Test func `retries a transient status first`() async throws {
    let shop = try await Shop()
    for _ in 0..<3 { shop.mock.enqueue(.status(503, body: "busy")) }
    shop.mock.enqueue(.status(204))
    #expect(try await shop.send().0.status == .serviceUnavailable)
    #expect(shop.mock.requestCount == 2, "\(shop.events.moments())")
    #expect(try await shop.send().0.status == .noContent)
    #expect(shop.mock.requestCount == 4)
  }

  @Test func `a 304 has an empty body, whatever its Content-Length`() async throws {
    let stub = StubTransport { .status(.notModified, headers: [.contentLength: "5"], for: $0) }
    let server = Server("https://shop.test", transport: stub)
    let (head, body) = try await ErrandTransport(server).send(
      HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/widgets"), body: nil,
      baseURL: try #require(URL(string: "https://shop.test")), operationID: "listWidgets")
    #expect(head.status.code == 304 && body?.length == .known(0))
    #expect(try await Data(collecting: try #require(body), upTo: 100).isEmpty)
  }

  @Test func `sends a small repeatable body with its length and resends it`() async throws {
    let shop = try await Shop()
    for status in [503, 200] as [HTTPStatus] { shop.mock.enqueue(.status(status)) }
    let fields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
    #expect(try await shop.send(.put, fields: fields, body: Body(#"{"id":7}"#)).0.status == .ok)
    for request in shop.mock.requests {
      #expect(request.headers[.contentLength] == "8" && request.body == Data(#"{"id":7}"#.utf8))
      #expect(request.headers.values(for: .contentType) == ["application/json; charset=utf-8"])
    }
    #expect(shop.mock.requestCount == 2)
  }

  @Test(arguments: [nil, 3 << 20] as [Int64?])
  func `streams a long repeatable body and resends it`(stated: Int64?) async throws {
    let shop = try await Shop()
    for status in [503, 200] as [HTTPStatus] { shop.mock.enqueue(.status(status)) }
    let chunks = (0..<3).map { [UInt8](repeating: $0, count: 1 << 20)[...] }
    let reads = Reads()
    let stream = Chunks(chunks: chunks, reads: reads)
    let body = Body(stream, length: stated.map { .known($0) } ?? .unknown, iterationBehavior: .multiple)
    #expect(try await shop.send(.put, body: body).0.status == .ok)
    #expect(shop.mock.requests.map(\.body) == Array(repeating: Data(chunks.joined()), count: 2))
    #expect(shop.mock.requests.allSatisfy { $0.headers[.contentLength] == stated.map { "\($0)" } })
    #expect(await reads.count == 2, "the body is read as it is sent, and never buffered")
  }

  @Test func `does not resend a one-shot body`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.status(503))
    let stream = AsyncStream(ArraySlice<UInt8>.self) { continuation in
      for piece in ["a", "b"] { continuation.yield(Array(piece.utf8)[...]) }
      continuation.finish()
    }
    #expect(try await shop.send(.put, body: Body(stream, length: .unknown)).0.status == .serviceUnavailable)
    #expect(shop.mock.requests.map(\.body) == [Data("ab".utf8)])
  }

  @Test(arguments: [3, 5] as [Int64])
  func `rejects a body whose length differs from the stated one before sending`(stated: Int64) async throws {
    let shop = try await Shop()
    let body = Body(Array("long".utf8)[...], length: .known(stated))
    let error = await #expect(throws: TaskError.self) { try await shop.send(.put, body: body) }
    #expect(error?.code == .bodyLengthMismatch && error?.reason.contains("\(stated) bytes") == true)
    #expect(shop.mock.requestCount == 0)
  }

  @Test(arguments: [false, true]) func `the clients' Content-Length matches the body sent`(isCompressed: Bool)
    async throws
  {
    let shop = try await Shop { $0.gzipUploadThreshold = isCompressed ? 1 : nil }
    let text = String(repeating: "four ", count: 200)
    _ = try await shop.send(.put, fields: [.contentLength: "1000"], body: Body(text))
    let request = try await shop.mock.nextRequest()
    #expect(request.headers[.contentEncoding] == (isCompressed ? "gzip" : nil))
    #expect(request.headers.values(for: .contentLength) == ["\(request.body.count)"])
    #expect(isCompressed ? request.body.count < 100 : request.body == Data(text.utf8))
  }

  @Test func `escapes invalid URL characters and drops a fragment`() async throws {
    let shop = try await Shop()
    _ = try await shop.send(.get, "/caf\u{e9} a|b/%2F%7C?tag=\u{20ac}&a=[1]#X=1?y")
    #expect(try await shop.mock.nextRequest().target == "/caf%C3%A9%20a%7Cb/%2F%7C?tag=%E2%82%AC&a=%5B1%5D")
    _ = try await shop.send(.get, "/#X-Target=List")
    #expect(try await shop.mock.nextRequest().target == "/")
  }

  @Test func `streams the response body, and releasing it ends the transfer`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.endless(chunk: Data("chunk".utf8)))
    var body = try await shop.send().1
    #expect(body?.length == .unknown)
    for try await chunk in try #require(body) {
      #expect(chunk.starts(with: Data("chunk".utf8)))
      break
    }
    body = nil
    try await shop.mock.waitForOpenConnections(0)
    shop.mock.enqueue(.text("four"))
    #expect(try await shop.send().1?.length == .known(4))
  }

  @Test func `a compressed response body has no known length`() async throws {
    let shop = try await Shop()
    let compressed = try #require(Data(base64Encoded: "H4sIAAAAAAACA0vLLy1SSEMhAIvk39sTAAAA"))
    shop.mock.enqueue(.data(compressed).header("Content-Encoding", "gzip"))
    let body = try #require(try await shop.send().1)
    #expect(body.length == .unknown)
    #expect(try await String(collecting: body, upTo: 100) == "four four four four")
  }

  @Test func `a HEAD response has no body`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.status(200, headers: ["Content-Length": "7"]))
    let (head, body) = try await shop.send(.head)
    #expect(head.status == .ok && body == nil)
  }

  @Test func `resolves a URL without a host against the remote, or throws without one`() async throws {
    let shop = try await Shop()
    _ = try await shop.send(.get, "/widgets", below: "/v2")
    #expect(try await shop.mock.nextRequest().target == "/v2/widgets")
    try await shop.server.setRemote(.none)
    let error = await #expect(throws: TaskError.self) { try await shop.send(.get, "/widgets", below: "/v2") }
    #expect(error?.code == .badURL && error?.reason.contains("'/v2'") == true)
    #expect(shop.mock.requestCount == 1)
  }

  @Test func `sends the server's credentials only to its own origin`() async throws {
    let (shop, other) = (try await Shop(), try await Shop())
    await shop.server.update { $0.standardHeaders[.authorization] = "Bearer s3cret" }
    _ = try await shop.send()
    _ = try await shop.send(below: other.mock.url.absoluteString)
    #expect(try await shop.mock.nextRequest().headers[.authorization] == "Bearer s3cret")
    #expect(try await other.mock.nextRequest().headers.contains(.authorization) == false)
  }

  @Test func `cancelling an operation closes its connection`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.hang)
    let call = Task { try await shop.send() }
    _ = try await shop.mock.nextRequest()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    try await shop.mock.waitForOpenConnections(0)
  }
}

/// Counts how often a body is read.
private actor Reads {
  private(set) var count = 0
  func add() { count += 1 }
}

/// Chunks that can be read repeatedly.
private struct Chunks: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<ArraySlice<UInt8>>
    let reads: Reads
    mutating func next() async -> ArraySlice<UInt8>? {
      guard let chunk = rest.popFirst() else {
        await reads.add()
        return nil
      }
      return chunk
    }
  }

  let chunks: [ArraySlice<UInt8>]
  let reads: Reads
  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...], reads: reads) }
}
