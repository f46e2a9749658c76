import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// A file is uploaded only once, with its original metadata, regardless of the server's responses.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct UploadsOnceTests {
  /// Makes the server accept 100,000 bytes and then forget the upload.
  private func clearUp(_ store: UploadShop, answering answer: MockAnswer) {
    store.mock.route(.patch, "/files/1") { [upload = store.upload] request in
      upload.withLock { upload in
        upload.data.append(request.body)
        upload.isThere = upload.data.count < 100_000
        return upload.isThere ? .status(.noContent, headers: ["Upload-Offset": "75000"]) : answer
      }
    }
  }

  @Test func `does not resend a file if the server forgets the upload after confirming the last chunk`() async throws {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop()
      clearUp(store, answering: .status(.created, headers: ["Tus-Resumable": "1.0.0"]))
      #expect(try await store.upload(file, by: .tus).run().status == .created)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .patch, .head])
    }
  }

  @Test(
    arguments: [.drop, .text("<html>Please sign in</html>")] as [MockAnswer], [true, false])
  func `does not resend a possibly complete upload until it is discarded`(answer: MockAnswer, isTus: Bool)
    async throws
  {
    try await withUpload(100_000) { file, _ in
      let store = try UploadShop()
      clearUp(store, answering: answer)
      func upload() -> ResumableUpload { isTus ? store.upload(file, by: .tus) : store.upload(file, by: .ietf) }
      for _ in 0..<2 {
        let error = await #expect(throws: TaskError.self) { try await upload().run() }
        #expect(error?.status == .notFound && error?.retryRefusal?.contains("may already have") == true)
      }
      #expect(store.mock.requests.count { $0.method == .post } == 1)
      try await upload().discard()
      await #expect(throws: TaskError.self) { try await upload().run() }
      #expect(store.mock.requests.count { $0.method == .post } == 2)
    }
  }

  @Test func `a last chunk stopped by a hook is not treated as sent`() async throws {
    struct Locked: Error {}
    try await withUpload(1000) { file, _ in
      let (store, isLocked) = (try UploadShop(), Shared(true))
      await store.server.update { settings in
        settings.preflight = { _, request in
          if request.method == .patch, isLocked.withLock({ $0.take() }) { throw Locked() }
        }
      }
      await #expect(throws: Locked.self) { try await store.upload(file, by: .tus).run() }
      store.upload.withLock { $0.isThere = false }  // the server has removed the upload
      try await store.upload(file, by: .tus).run()
      #expect(store.mock.requests.map(\.method) == [.post, .head, .post, .patch])
    }
  }

  /// A task that takes an hour to prepare its first request.
  private struct SlowFile: ServerPOSTTask {
    let server: Server
    let clock: ManualClock
    let isSlow: Shared<Bool>
    let path = "files"

    var headers: HTTPHeaders {
      if isSlow.withLock({ $0.take() }) { clock.advance(by: .seconds(3600)) }
      return [:]
    }
  }

  @Test func `a last chunk that misses the deadline is not treated as sent`() async throws {
    try await withUpload(1000) { file, _ in
      let (clock, isSlow) = (ManualClock(), Shared(false))
      let store = try UploadShop(clock: CallClock(clock))
      await store.server.update { $0.timeouts.call = .seconds(60) }
      store.mock.route(.post, "/files") { [upload = store.upload] _ in
        let isFirst = upload.withLock { upload in
          defer { upload.isThere = true }
          return !upload.isThere && upload.length == nil
        }
        upload.withLock { $0.length = 1000 }
        isSlow.withLock { $0 = isFirst }
        return .status(.created, headers: [.location: "/files/1", "Tus-Resumable": "1.0.0"])
      }
      let task = SlowFile(server: store.server, clock: clock, isSlow: isSlow)
      let error = await #expect(throws: TaskError.self) {
        try await ResumableUpload(of: file, with: task, by: .tus).run()
      }
      #expect(error?.timer == .call)
      store.upload.withLock { $0.isThere = false }  // the server has removed the upload
      try await ResumableUpload(of: file, with: task, by: .tus).run()
      #expect(store.mock.requests.map(\.method) == [.post, .head, .post, .patch])
    }
  }

  @Test func `restarts a possibly complete upload only if the task is safe to repeat`() async throws {
    try await withUpload(100_000) { file, data in
      let (store, isFirst) = (try UploadShop(), Shared(true))
      clearUp(store, answering: .drop)
      store.mock.route(.post, "/files") { [upload = store.upload] _ in
        upload.withLock { ($0.data, $0.isThere) = (Data(), true) }
        return .status(.created, headers: [.location: isFirst.withLock { $0.take() } ? "/files/1" : "/files/2"])
      }
      store.mock.route(.patch, "/files/2") { request in
        let offset = request.headers["Upload-Offset"].flatMap { Int($0) } ?? 0
        return .status(.noContent, headers: ["Upload-Offset": "\(offset + request.body.count)"])
      }
      func upload(_ idempotency: Idempotency) -> ResumableUpload {
        let task = UploadShop.AddFile(server: store.server).idempotency(idempotency)
        return ResumableUpload(of: file, with: task, by: .tus, chunkSize: 75_000)
      }
      await #expect(throws: TaskError.self) { try await upload(.key).run() }
      #expect(store.mock.requests.count { $0.method == .post } == 1, "an upload with a key is not restarted")
      try await upload(.safeToRepeat).run()
      #expect(store.mock.requests.count { $0.method == .post } == 2)
    }
  }

  @Test func `does not resend an upload that an earlier attempt may have completed`() async throws {
    try await withUpload(1000) { file, _ in
      let (store, isFirst) = (try UploadShop(), Shared(true))
      store.mock.route(.patch, "/files/1") { [upload = store.upload] _ in
        if isFirst.withLock({ $0.take() }) { return .drop }
        upload.withLock { $0.isThere = false }  // the server received the chunk and moved the file
        return .status(423)
      }
      let error = await #expect(throws: TaskError.self) { try await store.upload(file, by: .tus).run() }
      #expect(error?.retryRefusal?.contains("may already have") == true)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .head, .patch, .head])
    }
  }

  @Test func `an upload succeeds if a query reports completion after a conflict`() async throws {
    try await withUpload(1000) { file, data in
      let store = try UploadShop()
      store.mock.route(.patch, "/files/1") { [upload = store.upload] request in
        upload.withLock { ($0.data, $0.isFinal) = (request.body, true) }
        return .status(.conflict)
      }
      try await store.upload(file, by: .ietf).run()
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .head])
    }
  }

  @Test func `does not resend the length if the server has kept it but discarded the corrupted chunk`() async throws {
    let store = try UploadShop()
    let reported = Shared(0)
    store.mock.route("/files/1") { request in
      let hasLength = request.headers.contains("Upload-Length")
      let count = reported.withLock { reported in
        if hasLength { reported += 1 }
        return reported
      }
      if request.method == .head { return .status(.ok, headers: ["Upload-Offset": "0", "Upload-Length": "5"]) }
      if hasLength { return .status(count == 1 ? 460 : .badRequest) }
      return .status(.noContent, headers: ["Upload-Offset": "5"])
    }
    try await store.upload(Data("bytes".utf8), by: .tus).run()
    #expect(store.mock.requests.map(\.method) == [.post, .patch, .head, .patch])
  }

  @Test func `discard removes the journal of a possibly complete upload that the server keeps`() async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop(retry: .never)
      let upload = store.upload(file, by: .tus)
      store.mock.route(.patch, "/files/1") { _ in .drop }
      store.mock.route(.delete, "/files/1") { _ in .status(.forbidden) }
      await #expect(throws: TaskError.self) { try await upload.run() }
      #expect(await #expect(throws: TaskError.self) { try await upload.discard() }?.status == .forbidden)
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }

  @Test func `sends the app's idempotency key only with the first request`() async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop()
      let task = UploadShop.AddFile(server: store.server, headers: [.idempotencyKey: "mine"])
      for idempotency in [Idempotency.automatic, .key] {
        try await ResumableUpload(of: file, with: task.idempotency(idempotency), by: .tus).run()
      }
      let keys = store.mock.requests.map { "\($0.method) \($0.headers[.idempotencyKey] ?? "-")" }
      #expect(keys == ["POST mine", "PATCH -", "POST mine", "PATCH -"])
    }
  }

  @Test func `does not resend the last chunk after a pause`() async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop()
      let upload = store.upload(file, by: .tus)
      store.mock.route(.patch, "/files/1") { [known = store.upload] _ in
        known.withLock { $0.isThere = false }
        upload.pause()
        upload.resume()
        return .hang
      }
      let error = await #expect(throws: TaskError.self) { try await upload.run() }
      #expect(error?.retryRefusal?.contains("may already have") == true)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .head])
    }
  }

  @Test func `resends a partial last chunk, and starts over if the upload no longer exists`() async throws {
    try await withUpload(1000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.script = [.status(.noContent, headers: ["Upload-Offset": "10"]), .status(.gone)] }
      try await store.upload(file, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .patch, .post, .patch])
    }
  }

  @Test func `resumes an upload only if its metadata and type are unchanged`() async throws {
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

  @Test(arguments: [405, 409, 423, 501] as [HTTPStatus])
  func `discard keeps the journal unless the server can never delete the upload`(
    status: HTTPStatus
  ) async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil, .status(status), .status(.gone)] }
      let upload = store.upload(file, by: .tus)
      await #expect(throws: TaskError.self) { try await upload.run() }
      let folder = file.deletingLastPathComponent()
      #expect(await #expect(throws: TaskError.self) { try await upload.discard() }?.status == status)
      let neverWill = [405, 501].contains(status)
      #expect(try files(in: folder).count == (neverWill ? 1 : 2))
      try await upload.discard()
      #expect(try files(in: folder) == ["file.txt"])
    }
  }

  @Test(arguments: [.drop, .status(.serviceUnavailable), .status(408)] as [MockAnswer])
  func `does not retry the creation of an upload`(answer: MockAnswer) async throws {
    for size in [0, 1] {
      try await withUpload(size) { file, _ in
        let store = try UploadShop()
        store.mock.route(.post, "/files") { _ in answer }
        let error = await #expect(throws: TaskError.self) { try await store.upload(file, by: .tus).run() }
        #expect(store.mock.requestCount == 1 && error?.retryRefusal?.contains("is not idempotent") == true)
      }
    }
  }

  @Test func `a pause does not interrupt the creation of an empty upload`() async throws {
    try await withUpload(0) { file, _ in
      let store = try UploadShop()
      let upload = store.upload(file, by: .tus)
      store.mock.route(.post, "/files") { _ in
        upload.pause()
        upload.resume()
        return .status(.created, headers: [.location: "/files/1"])
      }
      #expect(try await upload.run().status == .created)
      #expect(store.mock.requestCount == 1)
    }
  }

  @Test func `retries OPTIONS and, with an idempotency key, the creation of an empty upload`() async throws {
    try await withUpload(0) { file, _ in
      let (store, isFirst) = (try UploadShop(), Shared(true))
      store.mock.route("/files") { request in
        if isFirst.withLock({ $0.take() }) { return .drop }
        return request.method == .options ? .status(.noContent) : .status(.created, headers: [.location: "/files/1"])
      }
      let task = UploadShop.AddFile(server: store.server)
      try await ResumableUpload(of: file, with: task, by: TusUpload(checksums: .whereOffered)).run()
      #expect(store.mock.requests.map(\.method) == [.options, .options, .post])
      isFirst.withLock { $0 = true }
      try await ResumableUpload(of: file, with: task.idempotency(.key), by: .tus).run()
      let keys = store.mock.requests.suffix(2).compactMap { $0.headers[.idempotencyKey] }
      #expect(store.mock.requests.count == 5 && keys.count == 2 && Set(keys).count == 1, "\(keys)")
    }
  }
}

extension Bool {
  /// Returns the value and sets it to false.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
