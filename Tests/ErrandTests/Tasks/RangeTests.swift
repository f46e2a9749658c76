import Errand
import ErrandTesting
import Foundation
import Testing

/// Range requests (RFC 9110 §14).
@Suite(.timeLimit(.minutes(1))) struct RangeTests {
  private static let body = Data("0123456789".utf8)

  /// Creates a server that sends the given status, `Content-Range` and body.
  private func server(_ status: HTTPStatus = .partialContent, _ contentRange: String?, _ sent: String) -> Server {
    let transport = StubTransport { request in
      var headers: HTTPHeaders = [:]
      if let contentRange { headers[.contentRange] = contentRange }
      return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(sent.utf8)))
    }
    return Server("https://shop.test", transport: transport, environment: [:])
  }

  @Test(arguments: [
    (ByteRange(2..<5), "bytes 2-4/10", "234"), (ByteRange(7...), "bytes 7-9/10", "789"),
    (.last(2), "bytes 8-9/10", "89"), (ByteRange(8..<20), "bytes 8-9/10", "89"),
    (ByteRange(2..<5), "bytes 2-4/*", "234"),
  ]) func `downloads the requested range into memory and a file`(range: ByteRange, contentRange: String, part: String)
    async throws
  {
    let task = PlainTask().range(range).on(server(.partialContent, contentRange, part))
    #expect(try await task.downloadData() == Data(part.utf8))
    try await withFolder { folder in
      let response = try await task.download(to: folder.appendingPathComponent("part"))
      #expect(try Data(contentsOf: response.payload) == Data(part.utf8))
      #expect(response.response.contentRange?.positions.count == part.utf8.count)
    }
  }

  @Test func `sends the range in the Range header`() async throws {
    try await expectTask(
      PlainTask().range(.last(500)), sends: ExpectedRequest(.get, "/plain", headers: [.range: "bytes=-500"]))
  }

  @Test(
    arguments: [
      (HTTPStatus.partialContent, "bytes 3-5/10", "345", TaskError.Code.badStatus, "got Content-Range 'bytes 3-5/10'"),
      (.partialContent, nil, "234", .badStatus, "got no Content-Range"),
      (.partialContent, "bytes 2-9/10", "23456789", .badStatus, "the server sent the wrong range"),
      (
        .partialContent, "bytes 2-4/10", "23", .truncatedBody,
        "the body has 2 bytes, but its Content-Range specifies 3"
      ),
      (
        .partialContent, "bytes 2-4/10", "2345", .badResponse,
        "the body has 4 bytes, but its Content-Range specifies 3"
      ),
      (.ok, nil, "0123456789", .badStatus, "the server sent the entire content instead of bytes=2-4"),
      (416, "bytes */2", "", .badStatus, "416"),
    ] as [(HTTPStatus, String?, String, TaskError.Code, String)])
  func `throws and writes no file if the response is not the requested range`(
    status: HTTPStatus, contentRange: String?, sent: String, code: TaskError.Code, words: String
  ) async throws {
    let task = PlainTask().range(ByteRange(2..<5)).retry(.never).on(server(status, contentRange, sent))
    let error = await #expect(throws: TaskError.self) { try await task.downloadData() }
    #expect(error?.code == code && error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    try await withFolder { folder in
      await #expect(throws: TaskError.self) { try await task.download(to: folder.appendingPathComponent("part")) }
      let left = try files(in: folder)
      #expect(left.isEmpty)
    }
  }

  @Test func `accepts the complete body for a full range and does not check a streamed response`() async throws {
    let whole = server(.ok, nil, "0123456789")
    #expect(try await PlainTask().range(ByteRange(0...)).on(whole).downloadData() == Self.body)
    let streamed = try await PlainTask().range(.first(3)).on(whole).stream()
    #expect(streamed.status == .ok && streamed.contentRange == nil)
    // The response to a manually set Range header is not checked.
    #expect(try await PlainTask().header(.range, "bytes=0-2").on(whole).downloadData() == Self.body)
  }

  @Test func `run() reads the entire content if the server ignores the range`() async throws {
    struct Checked: ServerTask {
      let path = "book"
      func postProcess(response: HTTPResponse) async throws { _ = try await response.body.collect() }
    }
    let stub = StubServer(.data(Self.body, "text/plain")) { $0.maximumErrorBodySize = 5 }
    let error = await #expect(throws: TaskError.self) {
      _ = try await Checked().range(ByteRange(2..<5)).on(stub.server).run()
    }
    #expect(error?.code == .bodyConsumed && error?.reason.hasPrefix("the body of 10 bytes was discarded") == true)
  }

  // RFC 9110 §14.4.
  @Test func `ignores the Content-Range of a 200 response`() async throws {
    let whole = server(.ok, "bytes 2-4/10", "0123456789")
    let response = try await PlainTask().on(whole).stream()
    #expect(response.contentRange == nil)
    #expect(try await PlainTask().on(whole).downloadData() == Self.body)
  }

  @Test(arguments: ["aws-chunked", "identity", "gzip, x"])
  func `checks the size of a partial response with an unknown coding`(coding: String) async throws {
    let transport = StubTransport { request in
      let headers: HTTPHeaders = [.contentRange: "bytes 2-4/10", .contentEncoding: coding]
      return HTTPResponse(206, url: request.url, headers: headers, body: HTTPResponseBody(Data("23".utf8)))
    }
    let task = PlainTask().range(ByteRange(2..<5)).retry(.never)
      .on(Server("https://shop.test", transport: transport, environment: [:]))
    let error = await #expect(throws: TaskError.self) { try await task.downloadData() }
    #expect(error?.code == .truncatedBody)
  }

  /// Replaces the response.
  private struct Rebuilding: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      let body = HTTPResponseBody(Data("23".utf8))
      return HTTPResponse(response.status, url: response.url, headers: response.headers, body: body)
    }
  }

  @Test func `checks the size of a partial response from a step, in memory and in a file`() async throws {
    let server = server(.partialContent, "bytes 2-4/10", "234")
    await server.update { $0.perCallSteps = [Rebuilding()] }
    let task = PlainTask().range(ByteRange(2..<5)).retry(.never).on(server)
    let inMemory = await #expect(throws: TaskError.self) { try await task.downloadData() }
    #expect(inMemory?.code == .truncatedBody)
    try await withFolder { folder in
      let inFile = await #expect(throws: TaskError.self) {
        try await task.download(to: folder.appendingPathComponent("part"))
      }
      #expect(inFile?.code == .truncatedBody)
    }
  }

  @Test func `reads no more than maximumErrorBodySize of an unexpected complete body`() async throws {
    let read = Counter()
    let transport = StubTransport { request in
      HTTPResponse(.ok, url: request.url, body: HTTPResponseBody(EndlessBody(read: read)))
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    await server.update { $0.maximumErrorBodySize = 10_000 }
    let error = await #expect(throws: TaskError.self) {
      try await PlainTask().range(.first(3)).on(server).downloadData()
    }
    #expect(error?.code == .badStatus && read.count < 20)
  }

  private final class EndlessBody: HTTPBodySource {
    let read: Counter

    init(read: Counter) { self.read = read }

    func next() async throws -> Data? {
      read.add()
      return Data(count: 1000)
    }
  }

  @Test(arguments: [ByteRange(3..<3), .first(0), .last(0), ByteRange((-2)...)])
  func `an invalid range fails the call before anything is sent`(range: ByteRange) async {
    let stub = StubServer(.widget)
    let error = await #expect(throws: TaskError.self) { try await PlainTask().range(range).on(stub.server).run() }
    #expect(error?.code == .badRequest && error?.wasNotSent == true && stub.requests.isEmpty)
  }
}
