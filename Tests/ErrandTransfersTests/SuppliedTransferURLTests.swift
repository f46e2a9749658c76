import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Checks every URL that a server supplies for a transfer. An https URL must never lead to http, even if plain http to
/// the host is allowed. The cases match the table in the guide "Controlling redirects and connections".
@Suite(.timeLimit(.minutes(1))) struct SuppliedTransferURLTests {
  /// Servers that allow plain http to their host and supply an http URL.
  private static let remotes = [
    ("https://shop.test", "http://shop.test/x"), ("https://127.0.0.1:8443", "http://127.0.0.1:8080/x"),
    ("https://localhost", "http://localhost/x"),
  ]

  private func stub(_ remote: String, _ answers: StubLog.Answer...) -> StubServer {
    let server = StubServer(remote: Remote(remote)) { $0.insecureHosts = ["shop.test"] }
    server.log.enqueue(answers)
    return server
  }

  private func isSafe(_ stub: StubServer, count: Int) -> Bool {
    stub.requests.count == count && stub.requests.allSatisfy { $0.url.scheme == "https" }
  }

  /// An app's own dialect, which does not check URLs.
  private struct CarelessUpload: UploadDialect {
    struct NoPlace: Error {}
    let name = "careless"
    let endsWithLastByte = true
    func begin(_ source: UploadSource) -> UploadRequest { UploadRequest(.post, headers: [:], content: .none) }
    func begun(_ answer: UploadAnswer) throws -> UploadSession {
      guard let url = URL(string: answer.headers["X-Place"] ?? "") else { throw NoPlace() }
      return UploadSession(location: url)
    }
    func query(_ session: UploadSession) -> UploadRequest { UploadRequest(.head, headers: [:]) }
    func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest { UploadRequest(.put, headers: [:]) }
    func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition { .finished }
    func cancel(_ session: UploadSession) -> UploadRequest? { UploadRequest(.delete, headers: [:]) }
  }

  private static let dialects: [any UploadDialect] = [
    TusUpload(), TusUpload(checksums: .whereOffered), IETFUpload(), GoogleUpload(), CarelessUpload(),
  ]

  private func begun(at place: String) -> StubLog.Answer {
    .status(
      201,
      [.location: place, "X-Place": place, "X-Goog-Upload-URL": place, "X-Goog-Upload-Status": "active"])
  }

  private func uploadStub(_ dialect: any UploadDialect, _ remote: String, _ begun: StubLog.Answer) -> StubServer {
    let taken = StubLog.Answer.status(204, ["Upload-Offset": "3"])
    return dialect.inquiry() == nil ? stub(remote, begun, taken) : stub(remote, .status(204), begun, taken)
  }

  private func run(_ dialect: some UploadDialect, on stub: StubServer) async throws {
    let task = ShopTask(path: "files", httpMethod: .post).on(stub.server).retry(.never)
    try await ResumableUpload(named: "a.txt", length: 3, with: task, by: dialect) { _, _ in Data("abc".utf8) }.run()
  }

  @Test func `does not send an upload to an http URL with any dialect`() async throws {
    for (remote, target) in Self.remotes {
      for dialect in Self.dialects {
        let stub = uploadStub(dialect, remote, begun(at: target))
        let error = await taskError { try await run(dialect, on: stub) }
        #expect(error?.code == .badResponse && error?.reason.contains("from https to http") == true, "\(dialect.name)")
        #expect(stub.requests.allSatisfy { $0.url.scheme == "https" && $0.url.path == "/files" }, "\(dialect.name)")
      }
    }
  }

  @Test(arguments: ["ftp://shop.test/1", "https://shop.test@evil.test/1", "file:///etc/passwd"])
  func `does not send an upload to a URL with a user name or an unsupported scheme`(place: String) async throws {
    for dialect in Self.dialects {
      let stub = uploadStub(dialect, "https://shop.test", begun(at: place))
      #expect(await taskError { try await run(dialect, on: stub) }?.code == .badResponse, "\(dialect.name)")
      #expect(stub.requests.allSatisfy { $0.url.path == "/files" }, "\(dialect.name)")
    }
  }

  @Test func `does not follow a redirect of an upload request`() async throws {
    let redirect = StubLog.Answer.status(307, [.location: "https://evil.test/x"])
    for dialect in Self.dialects.dropLast() {  // `CarelessUpload` reads the redirect itself
      let isAsked = dialect.inquiry() != nil
      let stubs = [
        uploadStub(dialect, "https://shop.test", redirect),
        isAsked
          ? stub("https://shop.test", .status(204), begun(at: "https://shop.test/1"), redirect)
          : stub("https://shop.test", begun(at: "https://shop.test/1"), redirect),
      ]
      for stub in stubs {
        #expect(await taskError { try await run(dialect, on: stub) }?.code == .badStatus, "\(dialect.name)")
        #expect(stub.requests.allSatisfy { $0.url.host == "shop.test" }, "\(dialect.name)")
      }
    }
  }

  @Test func `does not send an upload with conflicting Location headers`() async throws {
    for dialect in [TusUpload(), IETFUpload()] as [any UploadDialect] {
      let fields: HTTPHeaders = [.location: "/1", .location: "https://evil.test/2"]
      let stub = uploadStub(dialect, "https://shop.test", .status(201, fields))
      let error = await taskError { try await run(dialect, on: stub) }
      #expect(error?.code == .badResponse && error?.reason.contains("several Location fields") == true)
      #expect(isSafe(stub, count: 1))
    }
  }

  @Test func `rejects an upload's journal with an http URL until discard() removes it`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file.txt")
      try Data("abc".utf8).write(to: file)
      func upload(_ stub: StubServer) -> ResumableUpload {
        let task = ShopTask(path: "files", httpMethod: .post).on(stub.server).retry(.never)
        return ResumableUpload(of: file, with: task, by: .tus)
      }
      let cut = stub("https://shop.test", begun(at: "https://shop.test/1"), .status(500))
      #expect(await taskError { try await upload(cut).run() }?.status == .internalServerError)
      let name = try #require(try files(in: folder).first { $0.hasSuffix("-upload") })
      let journal = folder.appendingPathComponent(name)
      let text = try String(contentsOf: journal, encoding: .utf8)
      try text.replacing("https:", with: "http:").write(to: journal, atomically: false, encoding: .utf8)
      let again = stub("https://shop.test", begun(at: "https://shop.test/1"), .status(204, ["Upload-Offset": "3"]))
      let error = await taskError { try await upload(again).run() }
      #expect(error?.code == .badResponse && again.requests.isEmpty)
      try await upload(again).discard()
      #expect(again.requests.isEmpty)
      try await upload(again).run()
      #expect(isSafe(again, count: 2))
    }
  }

  @Test func `does not resume a download over http`() async throws {
    try await withFolder { folder in
      let log = Shared<[HTTPRequest]>([])
      let shop = VirtualShop(.autoAdvancing, configure: { $0.insecureHosts = ["shop.test"] }) { number, request, _ in
        log.withLock { $0.append(request) }
        if number > 1 { return .status(307, headers: [.location: "http://shop.test/x"], for: request) }
        let headers: HTTPHeaders = [.eTag: "\"1\"", .contentLength: "10"]
        return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(Data("abcd".utf8)))
      }
      let download = ResumableDownload(shop.task("a"), to: folder.appendingPathComponent("file"))
      #expect(await taskError { try await download.run() }?.code == .badRedirect)
      let requests = log.withLock { $0 }
      #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-"])
      #expect(requests.allSatisfy { $0.url.scheme == "https" })
    }
  }

  @Test func `keeps a queued task instead of delivering it over http`() async throws {
    try await withFolder { folder in
      let urls = Shared<[URL]>([])
      let remote = QueueRemote { request, _ in
        urls.withLock { $0.append(request.url) }
        return .status(307, headers: [.location: "http://shop.test/x"], for: request)
      }
      await remote.server.update { $0.insecureHosts = ["shop.test"] }
      let queue = try remote.queue(folder)
      try await queue.add(Queued.Note(uploadPayload: "secret"))
      #expect(try await queue.deliver().map(\.hasLeft) == [false])
      #expect(urls.withLock { $0.map(\.scheme) } == ["https"] && remote.bodies.count == 1)
    }
  }
}
