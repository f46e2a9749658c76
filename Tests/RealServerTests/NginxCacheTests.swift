import Errand
import Foundation
import Testing

/// The cache with nginx: ETags and dates, compressed bodies and ranges.
@Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
struct NginxCacheTests {
  private struct Fetch: PayloadDownloadingTask {
    typealias DownloadPayload = Data
    var path = "hello"
    var headers: HTTPHeaders = [:]
  }

  private static let text = Data(String(repeating: #"{"words":"that pack well"}"#, count: 2000).utf8)

  private func make() async throws -> (Nginx, Server) {
    let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8), "packed.json": Self.text, "large": Self.text])
    let server = Server(Remote(nginx.url))
    await server.update { $0.cache = MemoryCache() }
    return (nginx, server)
  }

  private func status(_ response: TaskResponse<Data>) -> String { response.headers[.cacheStatus] ?? "none" }

  @Test func `serves a fresh response from the cache`() async throws {
    var (nginx, server): (Nginx?, Server) = try await make()
    let first = try await Fetch(path: "fresh/hello").on(server).response()
    #expect(first.payload == Data("hello\n".utf8) && status(first) == "errand; fwd=uri-miss; stored")
    nginx = nil  // stops nginx while the response is still fresh
    let second = try await Fetch(path: "fresh/hello").on(server).response()
    #expect(second.payload == first.payload && status(second).hasPrefix("errand; hit; ttl=3"))
    #expect(second.headers[.eTag] == first.headers[.eTag] && second.headers[.age] != nil)
    _ = nginx
  }

  @Test(arguments: ["hello", "packed.json"]) func `revalidates a response by its ETag`(path: String) async throws {
    let (nginx, server) = try await make()
    let first = try await Fetch(path: path).on(server).response()
    let isCompressed = path == "packed.json"
    #expect(first.headers[.contentEncoding] == (isCompressed ? "gzip" : nil))
    #expect(first.headers[.eTag]?.hasPrefix("W/") == isCompressed)
    let second = try await Fetch(path: path).on(server).caching(.validated).response()
    #expect(second.payload == first.payload && second.status == .ok)
    #expect(status(second).contains("fwd-status=304"), "\(status(second))")
    #expect(second.attempts.map(\.status) == [.notModified])
    withExtendedLifetime(nginx) {}
  }

  @Test func `returns a range of a cached response and does not cache a partial response`() async throws {
    let (nginx, server) = try await make()
    let part = Fetch(path: "fresh/large", headers: [.range: "bytes=100-199"]).on(server)
    let first = try await part.response()
    #expect(first.status == .partialContent && status(first) == "errand; fwd=uri-miss")
    _ = try await Fetch(path: "fresh/large").on(server).response()
    let second = try await part.response()
    #expect(second.payload == first.payload && second.payload == Self.text[100..<200] && second.attempts.isEmpty)
    #expect(second.headers[.contentRange] == first.headers[.contentRange])
    withExtendedLifetime(nginx) {}
  }

  @Test func `does not download an unchanged file again`() async throws {
    let (nginx, server) = try await make()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
    let file = folder.appendingPathComponent("large")
    let task = Fetch(path: "large").on(server).caching(.none)
    #expect(try await !task.download(to: file, when: .changed).isUnchanged)
    #expect(try await task.download(to: file, when: .changed).isUnchanged)
    #expect(try Data(contentsOf: file) == Self.text)
    withExtendedLifetime(nginx) {}
  }
}
