import Errand
import ErrandTesting
import Foundation
import Testing

/// Uploads in pieces, over connections that break and to servers that forget.
@Suite struct ResumableUploadTests {
  struct AddFile: ServerPOSTTask {
    var server: Server
    var path = "files"
  }

  /// A server of both protocols, with one upload at a time.
  private final class Store: Sendable {
    struct Upload: Sendable {
      var data = Data()
      var isThere = false
      var isFinal = false
      var granularity: Int?
      /// Answers to the next requests; a nil takes half of the piece and drops the connection.
      var script: [MockAnswer?] = []
    }

    let mock: MockServer
    let server: Server
    let upload = Shared(Upload())

    init(retry: RetryPolicy = .patient) throws {
      mock = try MockServer()
      var configuration = ServerConfiguration()
      configuration.log = .discard
      configuration.retryPolicy = retry
      server = Server(remote: Remote(mock.url), configuration: configuration)
      let (url, upload) = (mock.url, upload)
      mock.route(.post, "/files") { request in
        upload.withLock { upload in
          (upload.data, upload.isThere) = (Data(), true)
          guard request.headers["X-Goog-Upload-Command"] == "start" else {
            return .status(.created, headers: [.location: "/files/1"])
          }
          var headers: HTTPHeaders = [
            "X-Goog-Upload-URL": "\(url)/files/1", "X-Goog-Upload-Status": "active",
          ]
          if let granularity = upload.granularity {
            headers["X-Goog-Upload-Chunk-Granularity"] = "\(granularity)"
          }
          return .status(.ok, headers: headers)
        }
      }
      mock.route("/files/1") { request in
        upload.withLock { upload in
          if request.method != .head, !upload.script.isEmpty {
            if let answer = upload.script.removeFirst() { return answer }
            upload.data.append(request.body.prefix(request.body.count / 2))
            return .drop
          }
          return request.headers.contains("Tus-Resumable")
            ? Self.tus(request, &upload) : Self.google(request, &upload)
        }
      }
    }

    private static func tus(_ request: MockRequest, _ upload: inout Upload) -> MockAnswer {
      guard upload.isThere else { return .status(.notFound) }
      if request.method == .delete {
        upload.isThere = false
        return .status(.noContent)
      }
      if request.method == .patch {
        guard request.headers["Upload-Offset"] == "\(upload.data.count)" else {
          return .status(.conflict)
        }
        upload.data.append(request.body)
        return .status(.noContent, headers: ["Upload-Offset": "\(upload.data.count)"])
      }
      return .status(.ok, headers: ["Upload-Offset": "\(upload.data.count)"])
    }

    private static func google(_ request: MockRequest, _ upload: inout Upload) -> MockAnswer {
      let command = request.headers["X-Goog-Upload-Command"] ?? ""
      upload.data.append(request.body)
      if command.hasSuffix("finalize") { upload.isFinal = true }
      return .status(
        .ok,
        headers: [
          "X-Goog-Upload-Status": command == "cancel"
            ? "cancelled" : upload.isFinal ? "final" : "active",
          "X-Goog-Upload-Size-Received": "\(upload.data.count)",
        ])
    }

    /// The requests behind the first: command or method, offset, length.
    var lines: [String] {
      mock.requests.dropFirst().map { request in
        let command = request.headers["X-Goog-Upload-Command"] ?? request.method.rawValue
        let offset = request.headers["X-Goog-Upload-Offset"] ?? request.headers["Upload-Offset"]
        return "\(command) \(offset ?? "-") \(request.bodyLength)"
      }
    }
  }

  private func inFolder(_ size: Int, _ body: (URL, Data) async throws -> Void) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file.txt")
      let data = RangeShop.bytes(size)
      try data.write(to: file)
      try await body(file, data)
    }
  }

  private func upload(
    _ file: URL, _ store: Store, by dialect: some UploadDialect, chunk: Int = 75_000
  )
    -> ResumableUpload
  { ResumableUpload(of: file, with: AddFile(server: store.server), by: dialect, chunkSize: chunk) }

  @Test func `a file goes up in pieces, and leaves no journal`() async throws {
    try await inFolder(199_000) { file, data in
      let store = try Store()
      let answer = try await upload(file, store, by: .tus).run()
      #expect(answer.status == .noContent && store.upload.withLock { $0.data } == data)
      #expect(store.lines == ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 49000"])
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }

  @Test func `google's pieces are in whole granules`() async throws {
    try await inFolder(199_000) { file, data in
      let store = try Store()
      store.upload.withLock { $0.granularity = 66_666 }
      try await upload(file, store, by: .google).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(
        store.lines == ["upload 0 66666", "upload 66666 66666", "upload, finalize 133332 65668"])
    }
  }

  @Test func `an empty file is nothing but a beginning, or an end`() async throws {
    try await inFolder(0) { file, _ in
      let (tus, google) = (try Store(), try Store())
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
    try await inFolder(199_000) { file, data in
      let store = try Store()
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
    try await inFolder(199_000) { file, data in
      let store = try Store(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      let journal = file.deletingLastPathComponent().path + "/.file.txt.errand-upload"
      let attributes = try FileManager.default.attributesOfItem(atPath: journal)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.lines.prefix(3) == ["PATCH 0 75000", "HEAD - 0", "PATCH 37500 75000"])
    }
    try await inFolder(199_000) { file, _ in
      let store = try Store(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await upload(file, store, by: .tus).run() }
      let other = RangeShop.bytes(199_000, seed: 2)
      try other.write(to: file)
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == other, "it began again")
    }
  }

  @Test func `an upload that the server has forgotten is begun again`() async throws {
    try await inFolder(100_000) { file, data in
      let store = try Store(retry: .never)
      store.upload.withLock { $0.script = [.status(.gone)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.upload.withLock { $0.data } == data)
      #expect(store.mock.requests.map(\.method) == [.post, .patch, .post, .patch, .patch])
    }
  }

  @Test func `another offset than the server's is not insisted on`() async throws {
    try await inFolder(100_000) { file, data in
      let store = try Store(retry: .never)
      store.upload.withLock { $0.script = [.status(.conflict)] }
      try await upload(file, store, by: .tus).run()
      #expect(store.lines == ["PATCH 0 75000", "HEAD - 0", "PATCH 0 75000", "PATCH 75000 25000"])
      #expect(store.upload.withLock { $0.data } == data)
    }
  }

  @Test
  func `after a 4xx of an active upload a query follows, and the same answers for ever end it`()
    async throws
  {
    try await inFolder(100_000) { file, data in
      let store = try Store(retry: .never)
      let active = MockAnswer.status(400, headers: ["X-Goog-Upload-Status": "active"])
      store.upload.withLock { $0.script = [active] }
      try await upload(file, store, by: .google).run()
      #expect(store.lines.prefix(3) == ["upload 0 75000", "query - 0", "upload 0 75000"])
      #expect(store.upload.withLock { $0.data } == data)
      let other = try Store(retry: .never)
      other.mock.route("/files/1") { request in
        request.headers["X-Goog-Upload-Command"] == "query"
          ? .status(
            .ok, headers: ["X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": "0"])
          : active
      }
      let error = await #expect(throws: TaskError.self) {
        try await upload(file, other, by: .google).run()
      }
      #expect(error?.status == 400 && other.mock.requestCount < 12)
    }
  }

  @Test func `a refusal for good is an error, and a cancelled upload is one`() async throws {
    for answer in [
      MockAnswer.status(413), .status(.ok, headers: ["X-Goog-Upload-Status": "cancelled"]),
    ] {
      try await inFolder(1000) { file, _ in
        let store = try Store()
        store.upload.withLock { $0.script = [answer] }
        let error = await #expect(throws: TaskError.self) {
          try await upload(file, store, by: .google).run()
        }
        #expect(error?.code == .badStatus && store.lines.count == 1)
      }
    }
  }

  @Test func `an upload that is discarded is terminated at the server`() async throws {
    try await inFolder(100_000) { file, _ in
      let store = try Store(retry: .never)
      store.upload.withLock { $0.script = [nil] }
      let upload = upload(file, store, by: .tus)
      await #expect(throws: TaskError.self) { try await upload.run() }
      try await upload.discard()
      #expect(store.lines.last == "DELETE - 0" && !store.upload.withLock { $0.isThere })
      let left = try files(in: file.deletingLastPathComponent())
      #expect(left == ["file.txt"])
    }
  }
}
