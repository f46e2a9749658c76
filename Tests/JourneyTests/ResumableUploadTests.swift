import Errand
import ErrandTesting
import Foundation
import Testing

/// Uploads in pieces, over connections that break and to servers that forget.
@Suite(.balancedEvents, .timeLimit(.minutes(10))) struct ResumableUploadTests {
  private func upload(_ file: URL, _ store: UploadShop, by dialect: some UploadDialect) -> ResumableUpload {
    store.upload(file, by: dialect)
  }

  @Test func `a file goes up in pieces, and leaves no journal`() async throws {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop()
      let answer = try await upload(file, store, by: .tus).run()
      #expect(answer.status == .noContent && store.upload.withLock { $0.data } == data)
      #expect(store.lines == ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 49000"])
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }

  @Test func `google's pieces are in whole granules`() async throws {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.beginning["X-Goog-Upload-Chunk-Granularity"] = "66666" }
      try await upload(file, store, by: .google).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(
        store.lines == ["upload 0 66666", "upload 66666 66666", "upload, finalize 133332 65668"])
    }
  }

  @Test func `an empty file is nothing but a beginning, or an end`() async throws {
    try await withUpload(0) { file, _ in
      let (tus, google) = (try UploadShop(), try UploadShop())
      try await upload(file, tus, by: .tus).run()
      #expect(tus.lines == [])
      try await upload(file, google, by: .google).run()
      #expect(google.lines == ["finalize 0 0"])
      #expect(google.mock.requests.last?.headers[.contentLength] == "0")
    }
  }

  @Test(arguments: [true, false]) func `after a cut it goes on where the server is`(isTus: Bool)
    async throws
  {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.script = [nil] }
      let upload = isTus ? upload(file, store, by: .tus) : upload(file, store, by: .google)
      try await upload.run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(
        store.lines
          == (isTus
            ? [
              "PATCH 0 75000", "HEAD - 0", "PATCH 37500 75000", "PATCH 112500 75000",
              "PATCH 187500 11500",
            ]
            : [
              "upload 0 75000", "query - 0", "upload 37500 75000", "upload 112500 75000",
              "upload, finalize 187500 11500",
            ]))
    }
  }

  @Test func `a later run goes on with what the server has, and not with another file`()
    async throws
  {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      let folder = file.deletingLastPathComponent()
      let journal = try #require(try files(in: folder).first { $0.hasPrefix(".file.txt.errand-") })
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(journal).path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.lines.prefix(3) == ["PATCH 0 75000", "HEAD - 0", "PATCH 37500 75000"])
    }
    try await withUpload(199_000) { file, _ in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      let other = RangeShop.bytes(199_000, seed: 2)
      try other.write(to: file)
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == other, "it began again")
    }
  }

  @Test func `an upload that the server has forgotten is begun again`() async throws {
    try await withUpload(100_000) { file, data in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [.status(.gone)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .post, .patch, .patch])
    }
  }

  @Test(arguments: [true, false]) func `a server that took the last piece and has cleared up gets no second upload`(
    isTus: Bool
  ) async throws {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop()
      store.mock.route(.patch, "/files/1") { [upload = store.upload] request in
        upload.withLock { upload in
          upload.data.append(request.body)
          upload.isThere = upload.data.count < 100_000
          return .status(
            upload.isThere ? .noContent : .created, headers: upload.isThere ? ["Upload-Offset": "75000"] : [:])
        }
      }
      let upload = isTus ? upload(file, store, by: .tus) : upload(file, store, by: .ietf)
      #expect(try await upload.run().status == .created)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .patch, .head])
    }
  }

  @Test func `a last piece of which the server has less is sent again, and then it may be gone`() async throws {
    try await withUpload(1000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.script = [.status(.noContent, headers: ["Upload-Offset": "10"]), .status(.gone)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .patch, .post, .patch])
    }
  }

  @Test func `an upload goes on as what it was begun as, and under nothing else`() async throws {
    func run(_ file: URL, _ store: UploadShop, album: String, _ type: MediaType? = nil) async throws {
      let task = UploadShop.AddFile(server: store.server)
      try await ResumableUpload(
        of: file, with: task, by: TusUpload(metadata: ["album": album]), chunkSize: 75_000, type: type
      )
      .run()
    }
    try await withUpload(100_000) { file, data in
      let store = try UploadShop(retry: .never)
      func begun() -> [String] {
        store.mock.requests.filter { $0.method == .post }.compactMap { $0.headers["Upload-Metadata"] }
      }
      for album in ["Private", "Public"] {
        store.upload.withLock { $0.script = [nil] }
        await #expect(throws: TaskError.self) { try await run(file, store, album: album) }
      }
      #expect(begun().count == 2 && Set(begun()).count == 2)
      try await run(file, store, album: "Public")
      #expect(begun().count == 2 && store.upload.withLock { $0.data } == data)
      store.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await run(file, store, album: "Public") }
      try await run(file, store, album: "Public", "image/png")
      #expect(begun().count == 4)
    }
  }

  /// A task whose preflight says something about its file.
  private struct AddSecret: ServerPOSTTask {
    let server: Server
    var path: String { "files" }
    let preparing: @Sendable (inout HTTPRequest) throws -> Void
    func preflight(_ request: inout HTTPRequest) async throws { try preparing(&request) }
  }

  @Test(arguments: [false, true]) func `what a preflight adds goes to a place elsewhere only where that is trusted`(
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
        #expect(request.headers["Tus-Resumable"] == "1.0.0")
      }
    }
  }

  @Test func `a file that is cut while a piece is under way is one that was changed`() async throws {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop()
      let task = AddSecret(server: store.server) { request in
        if request.method == .patch { try Data("short".utf8).write(to: file) }
      }
      let error = await #expect(throws: TaskError.self) {
        try await ResumableUpload(of: file, with: task, by: .tus).run()
      }
      #expect(
        error?.code == .unreadableBody && error?.reason.contains("was changed") == true, "\(String(describing: error))")
    }
  }

  @Test func `its requests have the task's name, and its progress`() async throws {
    try await withUpload(100_000) { file, _ in
      let (store, events, told) = (try UploadShop(), EventRecorder(), Shared([Int64]()))
      await store.server.update { $0.observers = [events] }
      let task = UploadShop.AddFile(server: store.server).progress { progress in
        if progress.direction == .up { told.withLock { $0.append(progress.completed) } }
      }
      try await ResumableUpload(of: file, with: task, by: .tus).run()
      #expect(Set(events.events.map(\.task)) == ["AddFile"])
      #expect(told.withLock { $0.max() } == 100_000)
    }
  }

  @Test(arguments: [405, 409, 423] as [HTTPStatus]) func `what the server does not forget is not forgotten here`(
    status: HTTPStatus
  ) async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil, .status(status), .status(.gone)] }
      let upload = upload(file, store, by: .tus)
      await #expect(throws: TaskError.self) { try await upload.run() }
      let folder = file.deletingLastPathComponent()
      #expect(await #expect(throws: TaskError.self) { try await upload.discard() }?.status == status)
      #expect(try files(in: folder).count == 2)
      try await upload.discard()
      #expect(try files(in: folder) == ["file.txt"])
    }
  }

  @Test func `an upload without bytes is whole when it begins, and not begun twice`() async throws {
    try await withUpload(0) { file, _ in
      let store = try UploadShop()
      store.mock.route(.post, "/files") { _ in .drop }
      let error = await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      #expect(store.mock.requestCount == 1 && error?.retryRefusal?.contains("may not be sent twice") == true)
    }
    try await withUpload(1) { file, _ in
      let store = try UploadShop()
      store.mock.route(.post, "/files") { _ in .drop }
      await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      #expect(store.mock.requestCount == 3, "one of another length is nothing yet")
    }
  }

  @Test func `a request that runs into the deadline names all of it`() async throws {
    let clock = ManualClock()
    let store = try UploadShop(clock: CallClock(clock))
    store.upload.withLock { $0.script = [.hang] }
    let task = UploadShop.AddFile(server: store.server).timeouts(Timeouts(call: .seconds(3)))
    let upload = ResumableUpload(named: "log.txt", with: task, by: .tus) { _, _ in
      clock.advance(by: .seconds(1))
      return Data("bytes".utf8)
    }
    let run = Task { try await upload.run() }
    #expect(await eventually { store.mock.requestCount == 2 })
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: TaskError.self) { try await run.value }
    #expect(error?.timer == .call && error?.limit == .seconds(3), "\(String(describing: error))")
    #expect(error?.reason.contains("of 3.000 s was exceeded") == true)
  }

  @Test func `bytes that do not come are waited for until the deadline`() async throws {
    let clock = ManualClock()
    let store = try UploadShop(clock: CallClock(clock))
    let task = UploadShop.AddFile(server: store.server).timeouts(Timeouts(call: .seconds(3)))
    let upload = ResumableUpload(named: "log.txt", with: task, by: .tus) { _, _ in
      try await CallClock(clock).sleep(for: .seconds(3600))
      return Data()
    }
    let run = Task { try await upload.run() }
    #expect(await eventually { store.mock.requestCount == 1 })
    await clock.sleepers(count: 2)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: TaskError.self) { try await run.value }
    #expect(error?.timer == .call && error?.limit == .seconds(3), "\(String(describing: error))")
  }

  @Test func `another offset than the server's is not insisted on`() async throws {
    try await withUpload(100_000) { file, data in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [.status(.conflict)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.lines == ["PATCH 0 75000", "HEAD - 0", "PATCH 0 75000", "PATCH 75000 25000"])
      #expect(store.upload.withLock { $0.data } == data)
    }
  }

  @Test func `a refusal for good is an error, and a cancelled upload is one`() async throws {
    for answer in [
      MockAnswer.status(413), .status(.ok, headers: ["X-Goog-Upload-Status": "cancelled"]),
    ] {
      try await withUpload(1000) { file, _ in
        let store = try UploadShop()
        store.upload.withLock { $0.script = [answer] }
        let error = await #expect(throws: TaskError.self) {
          try await upload(file, store, by: .google).run()
        }
        #expect(error?.code == .badStatus && store.lines.count == 1)
      }
    }
  }

  @Test func `an upload that is discarded is terminated at the server`() async throws {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      let upload = upload(file, store, by: .tus)
      await #expect(throws: TaskError.self) { try await upload.run() }
      try await upload.discard()
      #expect(store.lines.last == "DELETE - 0" && !store.upload.withLock { $0.isThere })
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }

  @Test func `what the task sends as parameters is sent where the upload begins, and there alone`() async throws {
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
      #expect(shop.upload.withLock { $0.data } == data, "no piece has them")
      #expect(requests.dropFirst().allSatisfy { $0.target == "/files/1" })
    }
  }

  @Test func `where the upload is can be asked for afterwards`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop()
      let upload = shop.upload(file, by: .tus)
      #expect(upload.location == nil)
      try await upload.run()
      #expect(upload.location?.path == "/files/1")
    }
  }
}
