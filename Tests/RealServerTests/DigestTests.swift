#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Digest credentials, as another's server understands them.
  @Suite(.enabled(if: Apache.isExpected, "apache2 is not installed"), .timeLimit(.minutes(10)))
  struct DigestTests {
    private let apache: Apache
    private let transport: CurlTransport

    init() async throws {
      apache = try await Apache()
      transport = try CurlTransport()
    }

    private func request(
      _ method: HTTPMethod = .get, _ path: String = "hello", body: HTTPBody = .empty,
      credential: Credential? = Apache.credential
    ) -> HTTPRequest {
      var request = HTTPRequest(method, apache.url.appendingPathComponent(path), body: body)
      request.options.digest = credential
      return request
    }

    @Test func `without a credential the challenge is the response`() async throws {
      let response = try await transport.send(request(credential: nil))
      #expect(response.status == .unauthorized)
      #expect(response.headers["WWW-Authenticate"]?.hasPrefix("Digest realm=\"errand\"") == true)
    }

    @Test func `the right credential opens, again and again over one connection`() async throws {
      for round in 0..<5 {
        let response = try await transport.send(request())
        #expect(response.status == .ok)
        #expect(response.isConnectionReused == (round > 0 && keepsConnections))
        #expect(try await response.body.collect() == Data("hello\n".utf8))
      }
    }

    @Test func `the wrong credential is a 401`() async throws {
      let wrong = Credential(user: "somebody", password: "open barley")
      let response = try await transport.send(request(credential: wrong))
      #expect(response.status == .unauthorized)
    }

    @Test func `a credential is not kept for the next request`() async throws {
      _ = try await transport.send(request()).body.collect()
      // The same connection, without the credential: nothing of it is left.
      #expect(try await transport.send(request(credential: nil)).status == .unauthorized)
    }

    @Test func `bytes go up whole, although the challenge comes first`() async throws {
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let response = try await transport.send(request(.put, "bytes", body: .bytes(bytes)))
      #expect(response.status == .created)
      #expect(apache.file("bytes") == bytes)
    }

    @Test func `a body that comes once goes up whole, for the challenge is asked for without it`() async throws {
      let stream = AsyncStream { continuation in
        for index in 0..<100 { continuation.yield(Data(repeating: UInt8(index), count: 1000)) }
        continuation.finish()
      }
      let response = try await transport.send(request(.put, "once", body: .once(stream)))
      #expect(response.status == .created)
      #expect(apache.file("once")?.count == 100_000)
    }

    @Test func `many at once get each its own answer`() async throws {
      try await withThrowingTaskGroup { group in
        // Fewer than it has threads: past that it closes idle connections to have one free.
        for _ in 0..<20 {
          group.addTask {
            let response = try await transport.send(request())
            let body = try await response.body.collect()
            #expect(response.status == .ok && body == Data("hello\n".utf8))
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
