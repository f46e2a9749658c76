import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Uploads in chunks, with lost connections and servers that forget uploads.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct ResumableUploadTests {
  private func upload(_ file: URL, _ store: UploadShop, by dialect: some UploadDialect) -> ResumableUpload {
    store.upload(file, by: dialect)
  }

  @Test func `uploads a file in chunks and removes the journal`() async throws {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop()
      let answer = try await upload(file, store, by: .tus).run()
      #expect(answer.status == .noContent && store.upload.withLock { $0.data } == data)
      #expect(store.lines == ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 49000"])
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }

  @Test func `Google's protocol sends chunks that are multiples of the granularity`() async throws {
    try await withUpload(199_000) { file, data in
      let store = try UploadShop()
      store.upload.withLock { $0.beginning["X-Goog-Upload-Chunk-Granularity"] = "66666" }
      try await upload(file, store, by: .google).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(
        store.lines == ["upload 0 66666", "upload 66666 66666", "upload, finalize 133332 65668"])
    }
  }

  @Test func `uploads an empty file with only the request that creates or finalizes the upload`() async throws {
    try await withUpload(0) { file, _ in
      let (tus, google) = (try UploadShop(), try UploadShop())
      try await upload(file, tus, by: .tus).run()
      #expect(tus.lines == [])
      try await upload(file, google, by: .google).run()
      #expect(google.lines == ["finalize 0 0"])
      #expect(google.mock.requests.last?.headers[.contentLength] == "0")
    }
  }

  #if os(Linux)
    @Test func `uploads a file of unknown size completely, alone or in a form`() async throws {
      let shop = try Shop()
      let file = URL(fileURLWithPath: "/proc/version")
      let content = try Data(contentsOf: file)
      let sent = try await Endpoint<HTTPBody, Void>.put("echo/x", body: .file(file)).on(shop.server).downloadData()
      #expect(sent == content && !content.isEmpty)
      let form = MultipartForm([.file("file", file)])
      let echo = try await Endpoint<HTTPBody, Void>.post("echo/x", form: form).on(shop.server).downloadData()
      #expect(echo.firstRange(of: content) != nil)
      #expect(shop.mock.requests.allSatisfy { $0.headers[.contentLength] == nil })
    }

    private static let shorterFile = "/sys/kernel/mm/transparent_hugepage/enabled"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: shorterFile), "there is no \(shorterFile)"))
    func `a file that is shorter than its stated size throws .bodyLengthMismatch`() async throws {
      let file = URL(fileURLWithPath: Self.shorterFile)
      let shop = try Shop { $0.retryPolicy = .never }
      let error = await #expect(throws: TaskError.self) {
        try await Endpoint<HTTPBody, Void>.put("echo/x", body: .file(file)).on(shop.server).upload()
      }
      #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func `a resumable upload rejects a file of unknown size`() async throws {
      let store = try UploadShop()
      let error = await #expect(throws: TaskError.self) {
        try await upload(URL(fileURLWithPath: "/proc/version"), store, by: .tus).run()
      }
      #expect(error?.code == .unreadableBody && error?.reason.contains("ResumableUpload(named:") == true)
      #expect(store.mock.requestCount == 0)
    }
  #endif

  @Test(arguments: [true, false]) func `resumes at the server's offset after a lost connection`(isTus: Bool)
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

  @Test func `a later run resumes unless the file has changed`()
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
      #expect(store.upload.withLock { $0.data } == other, "the upload started over")
    }
  }

  @Test func `starts over if the server has forgotten the upload`() async throws {
    try await withUpload(100_000) { file, data in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [.status(.gone)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .post, .patch, .patch])
    }
  }

  @Test func `adopts the server's offset after a conflict`() async throws {
    try await withUpload(100_000) { file, data in
      let store = try UploadShop(retry: .never)
      store.upload.withLock { $0.script = [.status(.conflict)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.lines == ["PATCH 0 75000", "HEAD - 0", "PATCH 0 75000", "PATCH 75000 25000"])
      #expect(store.upload.withLock { $0.data } == data)
    }
  }

  @Test func `throws if the server permanently rejects the upload or has cancelled it`() async throws {
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

  @Test func `discard deletes the upload from the server`() async throws {
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

  @Test func `the location is available after the upload`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop()
      let upload = shop.upload(file, by: .tus)
      #expect(upload.location == nil)
      try await upload.run()
      #expect(upload.location?.path == "/files/1")
    }
  }
}
