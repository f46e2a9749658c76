#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Digest credentials with a real server.
  @Suite(.enabled(if: Apache.isExpected, "apache2 is not installed"), .timeLimit(.minutes(3)))
  struct DigestTests {
    private let apache: Apache
    private let server: Server

    init() async throws {
      apache = try await Apache()
      server = Server(Remote(apache.url), transport: try CurlTransport(), environment: [:])
      await server.update { $0.log = .discard }
    }

    private struct Fetch: ServerTask {
      var httpMethod = HTTPMethod.get
      var path = "hello"
      var body: (@Sendable () -> HTTPBody)?
      var credential: Credential? = Apache.credential
      var acceptedStatuses: AcceptedStatuses { .all }

      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body?() ?? .empty }

      func preflight(_ request: inout HTTPRequest) async throws { request.options.digest = credential }
    }

    private func send(_ task: Fetch) async throws -> HTTPResponse { try await task.on(server).run() }

    @Test func `returns the 401 without credentials`() async throws {
      let response = try await send(Fetch(credential: nil))
      #expect(response.status == .unauthorized)
      #expect(response.headers["WWW-Authenticate"]?.hasPrefix("Digest realm=\"errand\"") == true)
    }

    @Test func `correct credentials work for several requests on one connection`() async throws {
      for round in 0..<5 {
        let response = try await send(Fetch())
        #expect(response.status == .ok)
        #expect(response.isConnectionReused == keepsConnections, "\(round)")
        #expect(response.headers[.contentLength] == "6")
      }
    }

    @Test func `incorrect credentials return a 401`() async throws {
      let wrong = Credential(user: "somebody", password: "open barley")
      #expect(try await send(Fetch(credential: wrong)).status == .unauthorized)
    }

    @Test func `does not use the credentials for the next request on the same connection`() async throws {
      #expect(try await send(Fetch()).status == .ok)
      // The next request reuses the connection without the credential.
      #expect(try await send(Fetch(credential: nil)).status == .unauthorized)
    }

    @Test func `uploads all bytes after the challenge`() async throws {
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let response = try await send(Fetch(httpMethod: .put, path: "bytes", body: { .bytes(bytes) }))
      #expect(response.status == .created)
      #expect(apache.file("bytes") == bytes)
    }

    @Test func `uploads a one-shot body in the second call, once the challenge is known`() async throws {
      let task = Fetch(httpMethod: .put, path: "once") {
        .once(
          AsyncStream { continuation in
            for index in 0..<100 { continuation.yield(Data(repeating: UInt8(index), count: 1000)) }
            continuation.finish()
          })
      }
      #expect(try await send(task).status == .unauthorized)
      #expect(apache.file("once") == nil)
      #expect(try await send(task).status == .created)
      #expect(apache.file("once")?.count == 100_000)
    }

    @Test func `concurrent calls with Digest credentials succeed`() async throws {
      try await withThrowingTaskGroup { group in
        // Use fewer calls than Apache has threads, because otherwise Apache closes idle connections.
        for _ in 0..<20 {
          group.addTask {
            let body = try await Fetch().on(server).downloadData()
            #expect(body == Data("hello\n".utf8))
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
