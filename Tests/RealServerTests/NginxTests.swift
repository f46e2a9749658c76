import Errand
import Foundation
import Testing

@Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
struct NginxTests {
  private static let large = Data((0..<(32 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 131) })

  private struct Fetch: PayloadDownloadingTask {
    typealias DownloadPayload = String
    var path = "hello"
    var headers: HTTPHeaders = [:]
  }

  private struct Upload: ServerPOSTTask, DataUploadingTask {
    let uploadData: Data
    var path: String { "upload" }
  }

  private func make(_ files: [String: Data] = ["hello": Data("hello\n".utf8)]) async throws -> (Nginx, Server) {
    let nginx = try await Nginx(files: files)
    return (nginx, Server(Remote(nginx.url)))
  }

  @Test func `fetches a static file and reuses the connection`() async throws {
    let (nginx, server) = try await make()
    let first = try await Fetch().on(server).response()
    let second = try await Fetch().on(server).response()
    #expect(first.payload == "hello\n" && first.headers["Server"]?.contains("nginx") == true)
    #expect(!first.response.isConnectionReused && second.response.isConnectionReused == keepsConnections)
    withExtendedLifetime(nginx) {}
  }

  @Test func `a missing file returns a 404 with nginx's error page`() async throws {
    let (nginx, server) = try await make()
    let error = await #expect(throws: TaskError.self) { try await Fetch(path: "nowhere").on(server).download() }
    #expect(error?.status == 404 && error?.bodyText?.contains("nginx") == true)
    withExtendedLifetime(nginx) {}
  }

  @Test func `a HEAD request returns the length of the file`() async throws {
    let (nginx, server) = try await make()
    let response = try await URLTask(nginx.url.appendingPathComponent("hello"), method: .head).on(server).run()
    #expect(response.status == 200 && response.headers[.contentLength] == "6")
  }

  @Test func `a range request returns the requested range of the file`() async throws {
    let (nginx, server) = try await make()
    let part = try await Fetch(headers: [.range: "bytes=1-3"]).on(server).response()
    #expect(part.payload == "ell" && part.status == 206)
    #expect(part.headers[.contentRange] == "bytes 1-3/6")
    withExtendedLifetime(nginx) {}
  }

  @Test func `downloads and streams a large file without corruption`() async throws {
    let (nginx, server) = try await make(["large": Self.large])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-large-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }  // the file may not have been created
    try await Fetch(path: "large").on(server).download(to: file)
    #expect(try Data(contentsOf: file) == Self.large)
    let response = try await Fetch(path: "large").on(server).stream()
    var offset = 0
    for try await chunk in response.body {
      #expect(Self.large[offset..<(offset + chunk.count)] == chunk)
      offset += chunk.count
    }
    #expect(offset == Self.large.count)
    withExtendedLifetime(nginx) {}
  }

  @Test func `an upload that is too large returns a 413`() async throws {
    let (nginx, server) = try await make()
    let error = await #expect(throws: TaskError.self) {
      try await Upload(uploadData: Data(count: 4 << 20)).on(server).upload()
    }
    #expect(error?.status == 413, "\(error.map { "\($0)" } ?? "")")
    #expect(server.manager.runningCount == 0)
    withExtendedLifetime(nginx) {}
  }

  @Test func `200 tasks complete in a window`() async throws {
    let (nginx, server) = try await make()
    let count = try await server.manager.withResults(of: (0..<200).map { _ in Fetch().on(server) }, limit: 8) {
      results in
      await results.reduce(0) { $0 + ((try? $1.result.get()) == "hello\n" ? 1 : 0) }
    }
    #expect(count == 200)
    withExtendedLifetime(nginx) {}
  }
}

#if os(Linux)
  /// Connections that nginx closes after a certain number of requests.
  @Suite(
    .speaksHTTP2, .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct NginxConnectionTests {
    @Test(.saysNothingOfGoaways, arguments: [HTTPMethod.get, .post])
    func `no call fails when nginx closes a connection at its request limit`(method: HTTPMethod) async throws {
      var security = Nginx.Security(certificates: try Certificates.shared())
      security.requestsPerConnection = 50
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)], security: security)
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(security.certificates.authority)
      let server = Server(.none, transport: try CurlTransport(configuration))
      let url = nginx.url.appendingPathComponent(method == .get ? "hello" : "swallow")
      // Use an empty body, because nginx responds before it reads a body and libcurl 7.88 may lose that response.
      let body = method == .get ? HTTPBody.empty : .bytes(Data())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            for _ in 0..<100 { try await URLTask(url, method: method, body: body).on(server).retry(.never).run() }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
