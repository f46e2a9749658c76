import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// The tus 1.0 extensions for deferred lengths and checksums, and edge cases of all upload protocols.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct TusUploadTests {
  @Test(arguments: [
    (100_000, ["PATCH 0 75000", "PATCH 75000 25000"]),
    (150_000, ["PATCH 0 75000", "PATCH 75000 75000", "PATCH 150000 0"]), (0, ["PATCH 0 0"]),
  ]) func `defers an unknown length and sends the length with the last chunk`(size: Int, lines: [String])
    async throws
  {
    let shop = try UploadShop()
    let data = RangeShop.bytes(size)
    try await shop.upload(data, by: .tus).run()
    let begin = try #require(shop.mock.requests.first)
    #expect(begin.headers["Upload-Defer-Length"] == "1" && begin.headers["Upload-Length"] == nil)
    #expect(shop.lines == lines && shop.upload.withLock { $0.data == data && $0.length == size })
    #expect(shop.mock.requests.map { $0.headers["Upload-Length"] }.dropLast().allSatisfy { $0 == nil })
  }

  @Test func `sends the length again if the last chunk was interrupted`() async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(100_000)
    shop.mock.route(.head, "/files/1") { _ in
      .status(.ok, headers: ["Upload-Offset": "\(shop.upload.withLock { $0.data.count })", "Upload-Defer-Length": "1"])
    }
    let isFirst = Shared(true)
    shop.mock.route(.patch, "/files/1") { request in
      let drops = isFirst.withLock { isFirst in
        defer { if request.headers["Upload-Length"] != nil { isFirst = false } }
        return isFirst && request.headers["Upload-Length"] != nil
      }
      return shop.upload.withLock { upload in
        upload.data.append(request.body)
        return drops ? .drop : .status(.noContent, headers: ["Upload-Offset": "\(upload.data.count)"])
      }
    }
    try await shop.upload(data, by: .tus).run()
    #expect(shop.lines == ["PATCH 0 75000", "PATCH 75000 25000", "HEAD - 0", "PATCH 100000 0"])
    #expect(shop.mock.requests.last?.headers["Upload-Length"] == "100000")
  }

  @Test func `does not resend the length if the server already knows it`() async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(100_000)
    shop.mock.route(.head, "/files/1") { _ in
      let (count, length) = shop.upload.withLock { ($0.data.count, $0.length) }
      let name: HTTPHeaderName = length == nil ? "Upload-Defer-Length" : "Upload-Length"
      return .status(.ok, headers: ["Upload-Offset": "\(count)", name: "\(length ?? 1)"])
    }
    shop.mock.route(.patch, "/files/1") { request in
      shop.upload.withLock { upload in
        guard let length = request.headers["Upload-Length"] else {
          upload.data.append(request.body)
          return .status(.noContent, headers: ["Upload-Offset": "\(upload.data.count)"])
        }
        if upload.length != nil { return .status(.badRequest) }
        upload.length = Int(length)
        upload.data.append(request.body.prefix(1000))
        return .drop
      }
    }
    try await shop.upload(data, by: .tus).run()
    #expect(shop.lines == ["PATCH 0 75000", "PATCH 75000 25000", "HEAD - 0", "PATCH 76000 24000"])
    #expect(shop.upload.withLock { $0.data } == data)
  }

  @Test func `does not wait for an excessive Retry-After`() async throws {
    let shop = try UploadShop()
    shop.mock.route(.head, "/files/1") { _ in .status(.conflict, headers: ["Retry-After": "99999999999"]) }
    shop.upload.withLock { $0.script = [.status(.conflict)] }
    let error = await #expect(throws: TaskError.self) {
      try await shop.upload(RangeShop.bytes(1000), by: .tus).run()
    }
    #expect(error?.retryRefusal?.contains("Retry-After") == true)
  }

  @Test func `sends the strongest checksum that the server supports`() async throws {
    for (algorithms, first) in [
      ("md5,sha1,crc32", "sha1 2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
      ("sha1, sha256", "sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
      ("md5", nil),
    ] as [(String, String?)] {
      let shop = try UploadShop()
      shop.upload.withLock { $0.offer = ["Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": algorithms] }
      try await shop.upload(Data(), by: TusUpload(checksums: .whereOffered)).run()
      #expect(shop.mock.requests.map(\.method) == [.options, .post, .patch])
      #expect(shop.mock.requests.first?.headers["Tus-Resumable"] == nil)
      #expect(shop.mock.requests.last?.headers["Upload-Checksum"] == first)
    }
  }

  @Test func `computes the checksum of a chunk from the file's content`() async throws {
    try await withUpload(100_000) { file, _ in
      try Data("abc".utf8).write(to: file)
      let shop = try UploadShop()
      shop.upload.withLock { $0.offer = ["Tus-Extension": "checksum", "Tus-Checksum-Algorithm": "sha1"] }
      try await shop.upload(file, by: TusUpload(checksums: .whereOffered)).run()
      #expect(shop.mock.requests.last?.headers["Upload-Checksum"] == "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
    }
  }

  @Test func `sends no checksum without the extension or the option`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop()
      shop.upload.withLock { $0.offer = ["Tus-Extension": "creation", "Tus-Checksum-Algorithm": "sha1"] }
      try await shop.upload(file, by: TusUpload(checksums: .whereOffered)).run()
      try await shop.upload(file, by: .tus).run()
      #expect(shop.mock.requests.map(\.method) == [.options, .post, .patch, .post, .patch])
      #expect(shop.mock.requests.allSatisfy { $0.headers["Upload-Checksum"] == nil })
    }
  }

  @Test func `resends a chunk that arrived corrupted`() async throws {
    try await withUpload(1000) { file, data in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { upload in
        upload.offer = ["Tus-Extension": "checksum", "Tus-Checksum-Algorithm": "sha256"]
        upload.script = [.status(460)]
      }
      try await shop.upload(file, by: TusUpload(checksums: .whereOffered)).run()
      #expect(shop.lines == ["POST - 0", "PATCH 0 1000", "HEAD - 0", "PATCH 0 1000"])
      #expect(shop.upload.withLock { $0.data } == data)
    }
  }

  @Test func `a connection lost after progress costs no retry budget`() async throws {
    try await withUpload(1_000_000) { file, data in
      let shop = try UploadShop(budget: RetryBudget(ratio: 0, capacity: 0))
      // The connection is lost in the middle of every second PATCH.
      shop.mock.route(.patch, "/files/1") { request in
        shop.upload.withLock { upload in
          let isCut = upload.data.count % 150_000 != 0 && request.body.count == 75_000
          upload.data.append(isCut ? request.body.prefix(request.body.count / 2) : request.body)
          return isCut ? .drop : .status(.noContent, headers: ["Upload-Offset": "\(upload.data.count)"])
        }
      }
      try await shop.upload(file, by: .tus).run()
      #expect(shop.upload.withLock { $0.data } == data)
    }
  }

  @Test func `does not send credentials to an upload location at another origin`() async throws {
    try await withUpload(100_000) { file, data in
      let (shop, other) = (try UploadShop(), try UploadShop())
      other.upload.withLock { $0.isThere = true }
      shop.mock.route(.post, "/files") { _ in .status(.created, headers: [.location: "\(other.mock.url)/files/1"]) }
      let task = UploadShop.AddFile(server: shop.server, headers: [.authorization: "Bearer secret", "X-Key": "k"])
        .authenticated(.basic(user: "ann", password: "pw")).cookies(.sending(["session": "secret"]))
      try await ResumableUpload(of: file, with: task, by: .tus, chunkSize: 75_000).run()
      #expect(shop.mock.requests.allSatisfy { $0.headers[.cookie] == "session=secret" })
      #expect(other.mock.requests.allSatisfy { $0.headers[.cookie] == nil })
      #expect(shop.mock.requests.allSatisfy { $0.headers["X-Key"] == "k" && $0.headers[.authorization] != nil })
      #expect(other.mock.requests.allSatisfy { $0.headers["X-Key"] == nil && $0.headers[.authorization] == nil })
      #expect(other.mock.requestCount == 2 && other.upload.withLock { $0.data } == data)
    }
  }

  @Test func `throws if the file changes during its last chunk`() async throws {
    try await withUpload(1000) { file, _ in
      let shop = try UploadShop(retry: .never)
      shop.mock.route(.patch, "/files/1") { request in
        try? RangeShop.bytes(1000, seed: 9).write(to: file)
        return .status(.noContent, headers: ["Upload-Offset": "\(request.body.count)"])
      }
      let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .tus).run() }
      #expect(error?.code == .unreadableBody)
    }
  }

  @Test func `rejects an offset beyond the bytes sent`() async throws {
    try await withUpload(199_000) { file, _ in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [.status(.noContent, headers: ["Upload-Offset": "199000"])] }
      let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .tus).run() }
      #expect(error?.code == .badResponse && error?.description.contains("75000 were sent") == true)
      #expect(error?.description.hasPrefix("PATCH http://") == true)
    }
  }

  @Test func `uploads of the same file to two servers have separate journals`() async throws {
    try await withUpload(199_000) { file, _ in
      let (one, other) = (try UploadShop(retry: .never), try UploadShop(retry: .never))
      for shop in [one, other] { shop.upload.withLock { $0.script = [nil] } }
      for shop in [one, other] {
        await #expect(throws: TaskError.self) { try await shop.upload(file, by: .tus).run() }
      }
      for shop in [one, other] {
        try await shop.upload(file, by: .tus).run()
        #expect(shop.lines[1] == "HEAD - 0" && shop.lines[2] == "PATCH 37500 75000")
      }
      #expect(try files(in: file.deletingLastPathComponent()) == ["file.txt"])
    }
  }

  @Test func `starts over if the server reports another length, but keeps the journal after a 401`()
    async throws
  {
    try await withUpload(199_000) { file, data in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [nil] }
      await #expect(throws: TaskError.self) { try await shop.upload(file, by: .tus).run() }
      let (isRefused, length) = (Shared(true), Shared("199000"))
      shop.mock.route(.head, "/files/1") { _ in
        isRefused.withLock { $0 }
          ? .status(.unauthorized)
          : .status(.ok, headers: ["Upload-Offset": "37500", "Upload-Length": length.withLock { $0 }])
      }
      let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .tus).run() }
      #expect(error?.status == 401)
      isRefused.withLock { $0 = false }
      length.withLock { $0 = "5" }
      try await shop.upload(file, by: .tus).run()
      #expect(shop.upload.withLock { $0.data } == data && shop.mock.requests.count { $0.method == .post } == 2)
    }
  }
}
