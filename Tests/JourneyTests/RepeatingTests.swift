import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct RepeatingTests {
  /// Returns a shop with one pooled connection, which drops the next request.
  private func shopWithDeadConnection() async throws -> Shop {
    let shop = try Shop()
    _ = try await GetWidget().on(shop.server).download()
    shop.mock.enqueue(.drop)
    return shop
  }

  @Test func `does not resend a POST on a stale connection`() async throws {
    let shop = try await shopWithDeadConnection()
    let error = await #expect(throws: TaskError.self) { try await AddWidget().on(shop.server).run() }
    #expect(error?.code == .connectionLost)
    #expect(error?.wasNotSent == false)
    #expect(shop.mock.requests.map(\.method) == [.get, .post], "the server received the POST only once")
  }

  @Test func `resends a GET on a stale connection`() async throws {
    let shop = try await shopWithDeadConnection()
    let response = try await GetWidget(id: 8).on(shop.server).retry(upTo: 2, after: .zero).response()
    #expect(response.payload.id == 8)
    // The record shows whether the transport or a second attempt has resent the request.
    #expect(response.attempts.count == 2 || response.record.description.contains("resent on a new connection"))
    #expect(shop.mock.requests.map(\.path) == ["/widgets/7", "/widgets/8", "/widgets/8"])
  }

  #if os(Linux)
    @Test(.keepsConnections)
    func `the record, the recording and the error show a request resent within an attempt`() async throws {
      try await withFolder { folder in
        let shop = try await shopWithDeadConnection()
        try await shop.server.recordTaskPath(to: folder)
        let response = try await GetWidget(id: 8).on(shop.server).retry(.never).response()
        shop.mock.enqueue(.drop)
        shop.mock.enqueue(.status(404))
        let error = try #require(
          await #expect(throws: TaskError.self) { try await GetWidget(id: 9).on(shop.server).retry(.never).run() })
        await shop.server.endTaskPathRecording()
        #expect(shop.mock.requests.map(\.path) == [7, 8, 8, 9, 9].map { "/widgets/\($0)" })
        let recorded = try ["0001", "0002"].map {
          try String(contentsOf: folder.appendingPathComponent("\($0). GET Widget.txt"), encoding: .utf8)
        }
        let ok = "attempt 1 ended: 200 OK, resent on a new connection"
        let missing = "attempt 1 ended: 404 Not Found, resent on a new connection"
        for (text, line) in zip(
          [response.record.description, error.record.description] + recorded, [ok, missing, ok, missing])
        {
          #expect(text.contains(line), "\(text)")
        }
        #expect(response.attempts.map(\.wasResent) == [true] && error.attempts.map(\.wasResent) == [true])
        let first = try await GetWidget(id: 10).on(shop.server).response()
        #expect(!first.attempts[0].wasResent && !first.record.description.contains("resent"))
      }
    }
  #endif

  #if os(Linux)
    /// Returns bytes as a body of the given kind.
    private func body(_ form: String, of bytes: Data, in folder: URL) throws -> HTTPBody {
      guard form != "bytes" else { return .bytes(bytes) }
      guard form != "stream" else {
        return .stream {
          AsyncStream { chunks in
            for start in stride(from: 0, to: bytes.count, by: 5000) {
              chunks.yield(bytes[start..<min(start + 5000, bytes.count)])
            }
            chunks.finish()
          }
        }
      }
      let file = folder.appendingPathComponent("file")
      try bytes.write(to: file)
      return .file(file)
    }

    /// More bytes than the transport buffers for libcurl.
    private static let mebibyte = Data((0..<1 << 10).flatMap { line in (0..<1 << 10).map { UInt8(($0 ^ line) & 255) } })

    @Test(
      .keepsConnections, arguments: ["bytes", "file", "stream"],
      [(true, false), (false, false), (true, true), (false, true)])
    func `resends the complete PUT if its connection drops before or after the body`(
      form: String, isWatchedIsEarly: (Bool, Bool)
    ) async throws {
      let (isWatched, isEarly) = isWatchedIsEarly
      try await withFolder { folder in
        let shop = try Shop()
        _ = try await GetWidget().on(shop.server).download()
        shop.mock.enqueue(isEarly ? .drop.earlyAnswer() : .drop)
        let put = URLTask(shop.url("echo/x"), method: .put, body: try body(form, of: Self.mebibyte, in: folder))
          .on(shop.server).retry(.never)
        let last = Shared<TransferProgress?>(nil)
        let watched = put.progress { progress in
          if progress.direction == .up { last.withLock { $0 = progress } }
        }
        #expect(try await (isWatched ? watched : put).downloadData() == Self.mebibyte)
        #expect(shop.mock.requests.map(\.method) == [.get, .put, .put])
        #expect(shop.mock.requests.last?.body == Self.mebibyte)
        #expect(await eventually { shop.isQuiet })
        #expect(await eventually { !isWatched || last.withLock { $0?.isFinished == true && $0?.completed == 1 << 20 } })
      }
    }
  #endif

  @Test func `resends a POST with an idempotency key`() async throws {
    let shop = try await shopWithDeadConnection()
    try await AddWidget().on(shop.server).idempotency(.key).retry(upTo: 2, after: .zero).run()
    let keys = shop.mock.requests.dropFirst().map { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
  }

  @Test func `sends a one-shot body once and never empty`() async throws {
    let shop = try await shopWithDeadConnection()
    let body = HTTPBody.once(
      AsyncStream { continuation in
        continuation.yield(Data("abc".utf8))
        continuation.finish()
      })
    await #expect(throws: TaskError.self) {
      try await URLTask(shop.url("echo/x"), method: .put, body: body).on(shop.server).run()
    }
    #expect(shop.mock.requests.dropFirst().map(\.body) == [Data("abc".utf8)])
  }

  /// The body fails partway with another call's error, which is marked as not sent.
  @Test func `does not resend a POST whose body fails with an error marked as not sent`() async throws {
    let (shop, closed) = (try Shop(), try MockServer())
    closed.stop()
    let made = Shared(0)
    let body = HTTPBody.stream {
      made.withLock { $0 += 1 }
      let (isFirst, server) = (Shared(true), shop.server)
      return AsyncThrowingStream<Data, any Error> {
        if isFirst.withLock({ isFirst in
          defer { isFirst = false }; return isFirst
        }) {
          return Data("first".utf8)
        }
        return try await URLTask(closed.url).on(server).retry(.never).downloadData()
      }
    }
    let task = URLTask(shop.url("echo/x"), method: .post, body: body).on(shop.server).retry(upTo: 3, after: .zero)
    let error = await #expect(throws: TaskError.self) { try await task.run() }
    #expect(error?.code == .cannotConnect && error?.wasNotSent == false, "\(String(describing: error))")
    #expect(error?.attempts.count == 1 && made.withLock { $0 } == 1)
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `returns a response that arrives before the body is sent`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.status(413, body: "too much").earlyAnswer().closing())
    let error = await #expect(throws: TaskError.self) {
      try await URLTask(shop.url("echo/x"), body: .bytes(Data(count: 8 << 20))).on(shop.server).run()
    }
    #expect(error?.status == 413, "\(error.map { "\($0)" } ?? "")")
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `a preflight can run a task on the same host with a limit of one`() async throws {
    let shop = try Shop(limits: ThrottleLimits(perHost: 1, total: 1))
    let server = shop.server
    let tokenURL = shop.url("echo/token")
    await server.update { configuration in
      // Weak, because a hook that retains its own server leaks the server.
      configuration.preflight = { [weak server] task, request in
        guard task is GetWidget, let server else { return }
        let token = try await URLTask(tokenURL, body: .text("t")).on(server).download()
        request.headers[.authorization] = String(decoding: token, as: UTF8.self)
      }
    }
    try await withThrowingTaskGroup { group in
      for id in 0..<20 { group.addTask { _ = try await GetWidget(id: id).on(server).download() } }
      try await group.waitForAll()
    }
    #expect(shop.mock.requests.count { $0.headers[.authorization] == "t" } == 20)
    #expect(shop.mock.peakConnections == 1 || !keepsConnections)
  }
}
