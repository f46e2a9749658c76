#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// Uploads whose source yields ten bytes and then nothing, with every kind of response.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct PausedSourceTests {
    enum Verb: CaseIterable {
      case run
      case stream
      case file
    }

    private static let lengths = [nil, 100] as [Int64?]
    private static let short = Duration.milliseconds(500)
    /// A timeout that doesn't expire.
    private static let long = Duration.seconds(60)

    /// Uploads to a peer that reads the available bytes and then runs `act`.
    private func upload(
      _ length: Int64?, _ verb: Verb, idle: Duration = long,
      _ act: @escaping @Sendable (WirePeer.Connection) -> Void
    ) async throws -> HTTPStatus {
      let peer = try WirePeer { connection, _ in
        let count = length == nil ? "a\r\n0123456789\r\n".utf8.count : 10
        if connection.readHead() != nil, connection.read(count) != nil { act(connection) }
      }
      let shop = try Shop {
        $0.defaultTimeout = Self.long
        $0.timeouts.idle = idle
      }
      let body = HTTPBody.stream(length: length) { AsyncStream { $0.yield(Data("0123456789".utf8)) } }
      let task = URLTask(peer.url(), method: .post, body: body).on(shop.server).retry(.never)
      defer { #expect(shop.isQuiet) }
      switch verb {
      case .run: return try await task.run().status
      case .stream:
        let response = try await task.stream()
        _ = try await response.body.collect()
        return response.status
      case .file:
        return try await withFolder { try await task.download(to: $0.appendingPathComponent("file")).status }
      }
    }

    @Test(arguments: lengths, Verb.allCases)
    func `a silent peer triggers the idle timeout`(length: Int64?, verb: Verb) async throws {
      let error = await #expect(throws: TaskError.self) {
        try await upload(length, verb, idle: Self.short) { $0.waitForHangUp() }
      }
      #expect(error?.timer == .idle && error?.phase == .sending, "\(error.map { "\($0)" } ?? "")")
      #expect(
        error?.reason.hasSuffix("the source of the request body provided no data") == true
          && error?.awaitedSource == true)
    }

    @Test(arguments: lengths, Verb.allCases)
    func `a peer that stops during its response triggers the idle timeout`(length: Int64?, verb: Verb) async throws {
      let error = await #expect(throws: TaskError.self) {
        try await upload(length, verb, idle: Self.short) {
          $0.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
          $0.waitForHangUp()
        }
      }
      #expect(error?.timer == .idle, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: lengths, Verb.allCases)
    func `a connection closed by the peer throws .connectionLost`(length: Int64?, verb: Verb) async throws {
      let error = await #expect(throws: TaskError.self) { try await upload(length, verb) { _ in } }
      #expect(error?.code == .connectionLost && error?.wasNotSent == false, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: lengths, Verb.allCases)
    func `a connection reset by the peer throws .connectionLost`(length: Int64?, verb: Verb) async throws {
      let error = await #expect(throws: TaskError.self) {
        try await upload(length, verb) { connection in
          var atOnce = linger(l_onoff: 1, l_linger: 0)
          setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        }
      }
      #expect(error?.code == .connectionLost, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: lengths, Verb.allCases)
    func `returns a rejection sent during the upload`(length: Int64?, verb: Verb) async throws {
      let error = await #expect(throws: TaskError.self) {
        try await upload(length, verb) {
          $0.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
          $0.waitForHangUp()
        }
      }
      #expect(error?.status == .contentTooLarge && error?.bodyText == "big", "\(error.map { "\($0)" } ?? "")")
    }

    /// By the time the reader resumes, libcurl has read the end of the response and reports no further events.
    @Test(arguments: lengths)
    func `a slow reader receives a complete response sent during the upload`(length: Int64?) async throws {
      let size = (512 << 10) + 20_000
      let count = length == nil ? 15 : 10
      let isSaid = Shared(false)
      let peer = try WirePeer { connection, _ in
        guard connection.readHead() != nil, connection.read(count) != nil else { return }
        let chunk = "\(String(size, radix: 16))\r\n\(String(repeating: "x", count: size))\r\n0\r\n\r\n"
        connection.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)")
        isSaid.withLock { $0 = true }
        connection.waitForHangUp()
      }
      let body = HTTPBody.stream(length: length) { AsyncStream { $0.yield(Data("0123456789".utf8)) } }
      var request = HTTPRequest(.post, peer.url(), body: body)
      request.options.timeouts = Timeouts(idle: Self.long)
      let transport = try CurlTransport()
      let answer = try await transport.send(request).body
      let isRead = await eventually {
        let queues = SocketQueues(port: Int(peer.port))
        return isSaid.withLock { $0 } && queues.unsent == 0 && queues.unread == 0
      }
      #expect(isRead, "libcurl must read the rest although the reader waits")
      let whole = try await answer.collect()
      #expect(whole.count == size)
    }

    @Test(arguments: lengths, Verb.allCases)
    func `returns a complete response sent during the upload`(length: Int64?, verb: Verb) async throws {
      let status = try await upload(length, verb) {
        $0.answer("{}")
        $0.waitForHangUp()
      }
      #expect(status == .ok)
    }
  }
#endif
