#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// A transfer must not affect other transfers or the process.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct CurlLoopTests {
    private let remote: MockServer
    private let transport: CurlTransport

    init() throws {
      remote = try MockServer()
      remote.route("/now", answer: .text("now"))
      transport = try CurlTransport()
    }

    private var url: URL { remote.url.appending(path: "now") }

    @Test(.keepsConnections) func `child processes do not inherit connections`() async throws {
      _ = try await transport.send(HTTPRequest(.get, url)).body.collect()
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
      let connections = descriptors.filter { peer(of: $0) == remote.url.port }
      #expect(!connections.isEmpty)
      #expect(connections.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    }

    @Test func `a cancelled reader throws even if bytes are available`() async throws {
      let body = try await transport.send(HTTPRequest(.get, url)).body
      let reader = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await body.next()
      }
      await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test func `a URL that libcurl can't parse throws .badURL, even after a valid URL`() async throws {
      let unreadable = try #require(URL(string: "http://a;b.localhost/now"))
      for _ in 0..<2 {
        let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, unreadable)) }
        #expect(error?.code == .badURL)
        let body = try await transport.send(HTTPRequest(.get, url)).body.collect()
        #expect(body == Data("now".utf8))
      }
      #expect(remote.requests.count == 2)
    }

    @Test func `each request on a reused handle is sent to its own URL`() async throws {
      remote.route("/later", answer: .text("later"))
      remote.route("/echo", answer: .text("posted"))
      for path in ["now", "later", "now", "now", "echo", "later"] {
        let method: HTTPMethod = path == "echo" ? .post : .get
        _ = try await transport.send(HTTPRequest(method, remote.url.appending(path: path))).body.collect()
      }
      #expect(remote.requests.map(\.path) == ["/now", "/later", "/now", "/now", "/echo", "/later"])
    }

    /// Returns the remote port of a socket, or `nil` if the descriptor is not a socket.
    private func peer(of descriptor: Int32) -> Int? {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
        getpeername(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0
      }
      return isConnected && address.sin_family == sa_family_t(AF_INET) ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
  }
#endif
