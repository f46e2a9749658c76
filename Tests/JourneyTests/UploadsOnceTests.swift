import Errand
import ErrandTesting
import Foundation
import Testing

/// Whatever a server says or forgets, a file is there once, as what it was begun as.
@Suite(.balancedEvents, .timeLimit(.minutes(10))) struct UploadsOnceTests {
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
      let upload =
        isTus ? store.upload(file, by: .tus) : store.upload(file, by: .ietf)
      #expect(try await upload.run().status == .created)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .patch, .head])
    }
  }

  @Test func `a last piece of which the server has less is sent again, and then it may be gone`() async throws {
    try await withUpload(1000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.script = [.status(.noContent, headers: ["Upload-Offset": "10"]), .status(.gone)] }
      try await store.upload(file, by: .tus).run()
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

  @Test(arguments: [405, 409, 423] as [HTTPStatus]) func `what the server does not forget is not forgotten here`(
    status: HTTPStatus
  ) async throws {
    try await withUpload(1000) { file, _ in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [nil, .status(status), .status(.gone)] }
      let upload = store.upload(file, by: .tus)
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
      let error = await #expect(throws: TaskError.self) { try await store.upload(file, by: .tus).run() }
      #expect(store.mock.requestCount == 1 && error?.retryRefusal?.contains("may not be sent twice") == true)
    }
    try await withUpload(1) { file, _ in
      let store = try UploadShop()
      store.mock.route(.post, "/files") { _ in .drop }
      await #expect(throws: TaskError.self) { try await store.upload(file, by: .tus).run() }
      #expect(store.mock.requestCount == 3, "one of another length is nothing yet")
    }
  }
}
