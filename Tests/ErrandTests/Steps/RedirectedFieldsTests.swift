import Errand
import ErrandTesting
import Foundation
import Testing

/// The headers of servers and tasks across redirects.
@Suite(.timeLimit(.minutes(1))) struct RedirectedFieldsTests {
  private func headers(
    _ locations: String..., from path: String = "plain", task headers: HTTPHeaders = [:]
  ) async throws -> [HTTPHeaders] {
    let answers = Shared(locations)
    let requests = Shared<[HTTPRequest]>([])
    var configuration = ServerConfiguration()
    configuration.userAgent = ""
    configuration.standardHeaders = ["Accept": "*/*", "Authorization": "s3cret", "X-Shop": "1"]
    configuration.trustedOrigins = ["https://cdn.test"]
    let transport = StubTransport { request in
      requests.withLock { $0.append(request) }
      let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      return .status(next == nil ? 200 : 302, headers: next.map { ["Location": $0] } ?? [:], for: request)
    }
    let server = Server(
      "https://shop.test", configuration: configuration, transport: transport, environment: [:])
    var task = PlainTask(path: path).on(server)
    for field in headers { task = task.header(field.name, field.value) }
    try await task.run()
    return requests.withLock { $0.map(\.headers) }
  }

  private static let own: HTTPHeaders = ["Accept": "*/*", "Authorization": "s3cret", "X-Shop": "1"]

  @Test func `does not send the server's headers to another origin or after a redirect back`() async throws {
    #expect(try await headers("/b") == [Self.own, Self.own])
    #expect(
      try await headers("https://other.test/", "https://shop.test/c") == [
        Self.own, ["Accept": "*/*"], ["Accept": "*/*"],
      ])
  }

  @Test func `sends the server's headers, but not a task's secrets, to trusted origins`() async throws {
    #expect(try await headers("https://cdn.test/", "https://shop.test/c") == [Self.own, Self.own, Self.own])
    let sent = try await headers("https://cdn.test/", task: ["Authorization": "own", "X-Own": "1"])
    #expect(sent.map { $0[.authorization] } == ["own", nil])
    #expect(sent.map { $0["X-Own"] } == ["1", "1"] && sent.map { $0["X-Shop"] } == ["1", "1"])
  }

  // RFC 9110 §11.4.
  @Test func `does not send a credential to another origin, regardless of the header's name`() async throws {
    let own: HTTPHeaders = ["X-Upstream": "Bearer alice", "X-Plan": "Basic"]
    let sent = try await headers("/b", "https://other.test/", task: own)
    #expect(sent.map { $0["X-Upstream"] } == ["Bearer alice", "Bearer alice", nil])
    #expect(sent.map { $0["X-Plan"] } == ["Basic", "Basic", "Basic"])
  }

  @Test func `keeps Range and If-Range on a redirect to another origin and drops other conditions`() async throws {
    let own: HTTPHeaders = ["Range": "bytes=4-", "If-Range": "\"1\"", "If-None-Match": "\"1\""]
    let sent = try await headers("https://other.test/", task: own)
    #expect(sent.map { $0[.ifRange] } == ["\"1\"", "\"1\""] && sent.map { $0[.range] } == ["bytes=4-", "bytes=4-"])
    #expect(sent.map { $0[.ifNoneMatch] } == ["\"1\"", nil])
  }

  @Test func `does not send the server's headers after a redirect from a foreign host`() async throws {
    let sent = try await headers("https://shop.test/b", from: "https://other.test/a", task: ["Cookie": "a=1"])
    #expect(sent == [["Accept": "*/*", "Cookie": "a=1"], ["Accept": "*/*"]])
  }
}
