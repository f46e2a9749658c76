#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Uploads over TLS and HTTP/2 whose source yields ten bytes and then nothing.
  @Suite(
    .speaksHTTP2,
    .enabled(
      if: SecurePeer.isExpected && HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct PausedUploadTests {
    enum Version: CaseIterable {
      case http1
      case http2
    }

    private static let lengths = [nil, 100] as [Int64?]

    /// Uploads to a peer that reads the available bytes and then performs `act`. Returns the response body.
    private func upload(_ version: Version, _ length: Int64?, _ act: String, idle: Duration = .seconds(60)) async throws
      -> String
    {
      let body = HTTPBody.stream(length: length) { AsyncStream { $0.yield(Data("0123456789".utf8)) } }
      let exchange: @Sendable (CurlTransport, URL) async throws -> String = { transport, url in
        var request = HTTPRequest(.post, url, body: body)
        request.options.timeouts = Timeouts(idle: idle, attempt: .seconds(90))
        return String(decoding: try await transport.send(request).body.collect(), as: UTF8.self)
      }
      switch version {
      case .http1:
        let peer = try await SecurePeer(Self.script)
        return try await exchange(peer.transport, peer.url("\(act)/\(length == nil ? 15 : 10)"))
      case .http2:
        let peer = try await HTTP2Peer()
        return try await exchange(peer.transport(), peer.url.appendingPathComponent("amid/\(act)"))
      }
    }

    @Test(arguments: Version.allCases, lengths)
    func `a silent peer triggers the idle timeout before or during its response`(version: Version, length: Int64?)
      async throws
    {
      for act in ["nothing", "stop"] {
        let error = await #expect(throws: TaskError.self) {
          try await upload(version, length, act, idle: .milliseconds(500))
        }
        #expect(error?.timer == .idle, "\(act): \(error.map { "\($0)" } ?? "")")
      }
    }

    @Test(arguments: Version.allCases, lengths)
    func `a connection closed or reset by the peer throws .connectionLost`(version: Version, length: Int64?)
      async throws
    {
      for act in ["close", "reset"] {
        let error = await #expect(throws: TaskError.self) { try await upload(version, length, act) }
        #expect(error?.code == .connectionLost, "\(act): \(error.map { "\($0)" } ?? "")")
      }
    }

    @Test(arguments: Version.allCases, lengths)
    func `returns a complete response sent during the upload`(version: Version, length: Int64?) async throws {
      #expect(try await upload(version, length, "answer") == "ok")
    }

    private static let script = #"""
      def serve(secure, path, rest):
          act, count = path.strip("/").split("/")
          while len(rest) < int(count):
              rest += secure.recv(4096)
          if act == "answer":
              secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          elif act == "stop":
              secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
          elif act == "reset":
              secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
              return
          elif act == "close":
              return secure.unwrap()
          secure.recv(1)
      """#
  }
#endif
