import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// The IETF draft for resumable uploads, tested with a strict server.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct IETFUploadTests {
  /// Returns the parts of a request that matter to the draft.
  private func words(_ request: MockRequest) -> String {
    let names: [HTTPHeaderName] = [
      "Upload-Complete", "Upload-Offset", "Upload-Length", .contentType, "Upload-Draft-Interop-Version",
    ]
    let own = names.map { request.headers[$0] ?? "-" }.joined(separator: " ")
    return "\(request.method) \(request.target) \(own) \(request.bodyLength)"
  }

  @Test func `uploads a file in chunks and completes the upload with the last chunk`() async throws {
    try await withUpload(199_000) { file, data in
      let shop = try UploadShop()
      let answer = try await shop.upload(file, by: .ietf).run()
      #expect(answer.headers["Upload-Complete"] == "?1" && shop.upload.withLock { $0.data } == data)
      #expect(
        shop.mock.requests.map(words) == [
          "POST /files ?0 - 199000 text/plain 8 0", "PATCH /files/1 ?0 0 - application/partial-upload 8 75000",
          "PATCH /files/1 ?0 75000 - application/partial-upload 8 75000",
          "PATCH /files/1 ?1 150000 - application/partial-upload 8 49000",
        ])
    }
  }

  @Test func `the last chunk also completes an upload of unknown length or of an empty file`() async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(100_000)
    try await shop.upload(data, by: .ietf).run()
    #expect(shop.upload.withLock { $0.data } == data)
    #expect(
      shop.mock.requests.map(words) == [
        "POST /files ?0 - - text/plain 8 0", "PATCH /files/1 ?0 0 - application/partial-upload 8 75000",
        "PATCH /files/1 ?1 75000 100000 application/partial-upload 8 25000",
      ])
    try await withUpload(0) { file, _ in
      let shop = try UploadShop()
      try await shop.upload(file, by: .ietf).run()
      #expect(shop.mock.requests.map(words).last == "PATCH /files/1 ?1 0 - application/partial-upload 8 0")
      #expect(shop.upload.withLock { $0.isFinal })
    }
  }

  @Test func `resumes at the server's offset after a lost connection or a conflict`() async throws {
    try await withUpload(199_000) { file, data in
      let shop = try UploadShop()
      shop.upload.withLock { $0.script = [nil, .status(.conflict)] }
      try await shop.upload(file, by: .ietf).run()
      #expect(shop.upload.withLock { $0.data } == data)
      #expect(
        shop.lines.prefix(5) == ["PATCH 0 75000", "HEAD - 0", "PATCH 37500 75000", "HEAD - 0", "PATCH 37500 75000"])
    }
  }

  @Test func `keeps chunks within the server's limits`() async throws {
    for (limit, lines) in [
      (
        "max-size=1000000, max-append-size=50000",
        ["PATCH 0 50000", "PATCH 50000 50000", "PATCH 100000 50000", "PATCH 150000 49000"]
      ),
      ("min-append-size=100000;x=1, max-age=60", ["PATCH 0 100000", "PATCH 100000 99000"]),
      ("max-append-size=?1, max-append-size=0", ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 49000"]),
      ("max-append-size=99500", ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 49000"]),
    ] {
      try await withUpload(199_000) { file, data in
        let shop = try UploadShop()
        shop.upload.withLock { $0.beginning["Upload-Limit"] = limit }
        try await shop.upload(file, by: .ietf).run()
        #expect(shop.lines == lines && shop.upload.withLock { $0.data } == data)
      }
    }
  }

  @Test func `sends a small remainder separately if it would exceed the limit`() async throws {
    try await withUpload(101_000) { file, data in
      let shop = try UploadShop()
      shop.upload.withLock { $0.beginning["Upload-Limit"] = "max-append-size=50000" }
      try await shop.upload(file, by: .ietf).run()
      #expect(shop.lines == ["PATCH 0 50000", "PATCH 50000 50000", "PATCH 100000 1000"])
      #expect(shop.upload.withLock { $0.data } == data)
    }
  }

  @Test func `does not resend a complete upload if the server rejects it`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop(retry: .fixed(retries: 5, delay: .zero))
      shop.upload.withLock { $0.script = [.status(503, headers: ["Upload-Complete": "?1"])] }
      let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .ietf).run() }
      #expect(error?.status == 503 && shop.lines == ["PATCH 0 1000"])
      #expect(try files(in: file.deletingLastPathComponent()) == ["file.txt"])
    }
  }

  @Test func `a query detects a complete upload after its response was lost`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop()
      shop.mock.route(.patch, "/files/1") { _ in
        shop.upload.withLock { $0.isFinal = true }
        return .drop
      }
      try await shop.upload(file, by: .ietf).run()
      #expect(shop.lines == ["PATCH 0 1000", "HEAD - 0"])
    }
  }

  @Test func `throws if the server does not start the upload, and discard cancels an upload`() async throws {
    try await withUpload(100_000) { file, _ in
      let shop = try UploadShop(retry: .never)
      shop.mock.route(.post, "/none") { _ in .status(.ok) }
      let none = ResumableUpload(of: file, with: UploadShop.AddFile(server: shop.server, path: "none"), by: .ietf)
      let error = await #expect(throws: TaskError.self) { try await none.run() }
      #expect(error?.description.contains("without Location") == true)
      shop.upload.withLock { $0.script = [nil] }
      let upload = shop.upload(file, by: .ietf)
      await #expect(throws: TaskError.self) { try await upload.run() }
      try await upload.discard()
      #expect(shop.mock.requests.last?.method == .delete && !shop.upload.withLock { $0.isThere })
    }
  }

  @Test func `rejects a minimum chunk size that is too large to hold in memory`() async throws {
    let shop = try UploadShop()
    shop.upload.withLock { $0.beginning["Upload-Limit"] = "min-append-size=\(Int64.max)" }
    let error = await #expect(throws: TaskError.self) {
      try await shop.upload(Data(count: 100), by: .ietf).run()
    }
    #expect(error?.code == .unreadableBody)
  }
}
