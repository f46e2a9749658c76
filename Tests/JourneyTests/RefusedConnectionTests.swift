#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// Requests with `waitsForConnectivity` to a port without a listener.
  @Suite(.balancedEvents, .timeLimit(.minutes(2)))
  struct RefusedConnectionTests {
    private struct Port {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      let number: UInt16

      init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { [descriptor] bytes in
          let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
          bind(descriptor, pointer, size)
          getsockname(descriptor, pointer, &size)
        }
        number = UInt16(bigEndian: address.sin_port)
      }

      /// Starts to listen and answers one request.
      func serve() {
        listen(descriptor, 1)
        Thread.detachNewThread { [descriptor] in
          let connection = WirePeer.Connection(descriptor: accept(descriptor, nil, nil))
          let request = connection.readRequest() ?? ""
          connection.answer(request.components(separatedBy: "\r\n\r\n").last ?? "")
          connection.waitForEnd()
          close(connection.descriptor)
        }
      }
    }

    /// Opens the port after the first failure.
    private struct Opening: Reachability {
      let port: Port?

      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
        if failures == 1 { port?.serve() }
        try await clock.sleep(for: .milliseconds(20))
      }
    }

    private func server(_ reachability: Opening) throws -> Server {
      var configuration = ServerConfiguration()
      configuration.waitsForConnectivity = true
      configuration.connectivityTimeout = .milliseconds(300)
      configuration.reachability = reachability
      configuration.log = .discard
      return Server(
        .none, configuration: configuration, transport: try CurlTransport(), environment: [:])
    }

    /// Returns a one-shot body that records whether it was read.
    private func body(isRead: Shared<Bool>) -> HTTPBody {
      .once(
        AsyncStream(unfolding: {
          isRead.withLock { isRead in
            defer { isRead = true }
            return isRead ? nil : Data("once".utf8)
          }
        }), length: 4)
    }

    @Test func `does not read a one-shot body until a connection succeeds`() async throws {
      let port = Port()
      defer { close(port.descriptor) }
      let server = try server(Opening(port: port))
      let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
      let isRead = Shared(false)
      let response = try await URLTask(url, method: .post, body: body(isRead: isRead)).on(server).download()
      #expect(response == Data("once".utf8))
    }

    @Test func `reports a refused connection as the cause and does not read the body`() async throws {
      let port = Port()
      defer { close(port.descriptor) }
      let server = try server(Opening(port: nil))
      let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
      let isRead = Shared(false)
      let error = try #require(
        await #expect(throws: TaskError.self) {
          try await URLTask(url, method: .post, body: body(isRead: isRead)).on(server).run()
        })
      #expect(error.code == .cannotConnect && error.wasNotSent, "\(error)")
      #expect(error.reason.contains("Connection refused") && error.reason.contains("connectivityTimeout"), "\(error)")
      #expect(!error.reason.contains("network"), "the port refuses connections, but the network is available: \(error)")
      #expect(!isRead.withLock { $0 })
    }
  }
#endif
