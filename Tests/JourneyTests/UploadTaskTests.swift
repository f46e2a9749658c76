import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Uploads use the name, preflight, parameters and limits of their task.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct UploadTaskTests {
  /// A task with a custom preflight.
  private struct AddSecret: ServerPOSTTask {
    let server: Server
    var path: String { "files" }
    let preparing: @Sendable (inout HTTPRequest) throws -> Void
    func preflight(_ request: inout HTTPRequest) async throws { try preparing(&request) }
  }

  @Test(arguments: [false, true]) func `sends a preflight's credentials to another origin only if it is trusted`(
    isTrusted: Bool
  ) async throws {
    try await withUpload(1000) { file, data in
      let (store, other) = (try UploadShop(), try UploadShop())
      other.upload.withLock { $0.isThere = true }
      store.mock.route(.post, "/files") { [url = other.mock.url] _ in
        .status(.created, headers: [.location: "\(url)/files/1"])
      }
      await store.server.update { [url = other.mock.url] settings in
        if isTrusted { settings.trustedOrigins = ["\(url)"] }
        settings.preflight = { _, request in
          request.headers[.authorization] = "Bearer s3cret"
          request.headers["Passport"] = "s3cret"
          request.options.credentialHeaders = ["Passport"]
          request.options.digest = Credential(user: "ann", password: "s3cret")
          request.url.append(queryItems: [URLQueryItem(name: "access_token", value: "s3cret")])
          request.headers["X-App"] = "1"
        }
      }
      let task = AddSecret(server: store.server) { $0.headers["X-Own"] = "1" }
      try await ResumableUpload(of: file, with: task, by: .tus).run()
      #expect(other.upload.withLock { $0.data } == data)
      let begin = try #require(store.mock.requests.first)
      #expect(begin.headers[.authorization] == "Bearer s3cret" && begin.headers["X-Own"] == "1")
      #expect(other.mock.requestCount > 0)
      for request in other.mock.requests {
        #expect(request.headers[.authorization] == (isTrusted ? "Bearer s3cret" : nil))
        #expect(request.headers["X-Own"] == (isTrusted ? "1" : nil) && request.headers["X-App"] == "1")
        #expect(request.headers["Passport"] == (isTrusted ? "s3cret" : nil))
        #expect(request.target.contains("s3cret") == isTrusted)
        #expect(request.headers["Tus-Resumable"] == "1.0.0")
      }
    }
  }

  @Test func `throws .unreadableBody if the file is truncated while a chunk is sent`() async throws {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop()
      let task = AddSecret(server: store.server) { request in
        if request.method == .patch { try Data("short".utf8).write(to: file) }
      }
      let error = await #expect(throws: TaskError.self) {
        try await ResumableUpload(of: file, with: task, by: .tus).run()
      }
      #expect(
        error?.code == .unreadableBody && error?.reason.contains("changed during") == true,
        "\(String(describing: error))")
    }
  }

  @Test func `events of an upload contain the name of its task and the progress of the upload`() async throws {
    try await withUpload(100_000) { file, _ in
      let (store, events, reported) = (try UploadShop(), EventRecorder(), Shared([TransferProgress]()))
      await store.server.update { $0.observers = [events] }
      let task = UploadShop.AddFile(server: store.server).progress { progress in
        reported.withLock { $0.append(progress) }
      }
      try await ResumableUpload(of: file, with: task, by: .tus, chunkSize: 40_000).run()
      #expect(Set(events.events.map(\.task)) == ["AddFile"])
      let all = reported.withLock { $0 }
      #expect(all.allSatisfy { $0.direction == .up && $0.total == 100_000 }, "\(all)")
      #expect(all.map(\.completed) == all.map(\.completed).sorted() && all.last?.completed == 100_000)
      #expect(all.filter(\.isFinished).count == 1 && all.last?.isFinished == true)
    }
  }

  @Test func `reports the deadline of a preflight's call as the deadline of another call`() async throws {
    try await withUpload(1000) { file, _ in
      let (store, tokens) = (try UploadShop(retry: .never), try UploadShop(retry: .never))
      tokens.mock.route("/files") { _ in .hang }
      let task = AddSecret(server: store.server) { _ in }
      await store.server.update { [server = tokens.server] settings in
        settings.preflight = { _, _ in
          try await UploadShop.AddFile(server: server).timeouts(Timeouts(call: .milliseconds(50))).run()
        }
      }
      let error = await #expect(throws: TaskError.self) {
        try await ResumableUpload(of: file, with: task.timeouts(Timeouts(call: .seconds(60))), by: .tus).run()
      }
      #expect(error?.limit == .milliseconds(50) && error?.isFromAnotherCall == true, "\(String(describing: error))")
    }
  }

  @Test func `sends the task's parameters only with the first request`() async throws {
    struct Album: Codable, Sendable { var album: String }
    struct AddPhoto: ServerPOSTTask {
      let server: Server
      var path: String { "files" }
      var query: HTTPQuery { ["kind": "photo"] }
      var parameters: Album { Album(album: "holidays") }
    }
    try await withUpload(100_000) { file, data in
      let shop = try UploadShop()
      try await ResumableUpload(of: file, with: AddPhoto(server: shop.server), by: .google, chunkSize: 75_000).run()
      let requests = shop.mock.requests
      #expect(requests.first.map { String(decoding: $0.body, as: UTF8.self) } == #"{"album":"holidays"}"#)
      #expect(requests.first?.target == "/files?kind=photo")
      #expect(shop.upload.withLock { $0.data } == data, "no chunk contains the parameters")
      #expect(requests.dropFirst().allSatisfy { $0.target == "/files/1" })
    }
  }

  /// Runs an upload with a deadline of three seconds. Advances `clock` by `left` once it has `sleepers` sleepers and
  /// the server has received `requests` requests.
  private func runOut(
    _ store: UploadShop, _ clock: ManualClock, requests: Int, sleepers: Int, left: Duration,
    bytes: @escaping @Sendable () async throws -> Data
  ) async throws -> TaskError {
    let task = UploadShop.AddFile(server: store.server).timeouts(Timeouts(call: .seconds(3)))
    let upload = ResumableUpload(named: "log.txt", with: task, by: .tus) { _, _ in try await bytes() }
    let run = Task { try await upload.run() }
    #expect(await eventually { store.mock.requestCount == requests })
    await clock.sleepers(count: sleepers)
    clock.advance(by: left)
    let error = try #require(await #expect(throws: TaskError.self) { try await run.value })
    #expect(error.timer == .call && error.limit == .seconds(3), "\(error)")
    return error
  }

  @Test func `a request that ends at the deadline reports the full deadline of the upload`() async throws {
    let clock = ManualClock()
    let store = try UploadShop(clock: CallClock(clock))
    store.upload.withLock { $0.script = [.hang] }
    let error = try await runOut(store, clock, requests: 2, sleepers: 1, left: .seconds(2)) {
      clock.advance(by: .seconds(1))
      return Data("bytes".utf8)
    }
    #expect(error.reason.contains("of 3.000 s was exceeded"))
  }

  @Test func `waits for the byte source no longer than the deadline`() async throws {
    let clock = ManualClock()
    let store = try UploadShop(clock: CallClock(clock))
    _ = try await runOut(store, clock, requests: 1, sleepers: 2, left: .seconds(3)) {
      try await CallClock(clock).sleep(for: .seconds(3600))
      return Data()
    }
  }
}
