import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

@testable import Errand

/// An app's own upload protocol, with a new location after each chunk and a digest of the entire content.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct OwnUploadProtocolTests {
  private struct Moving: UploadDialect {
    let name = "moving"
    let endsWithLastByte = false
    var contentChecksum: UploadChecksum? = .sha256
    var end: URL?

    func begin(_ source: UploadSource) -> UploadRequest {
      UploadRequest(.post, query: ["name": source.fileName], content: .none)
    }
    func begun(_ answer: UploadAnswer) throws -> UploadSession {
      UploadSession(location: try #require(try answer.url(in: .location)))
    }
    func query(_ session: UploadSession) -> UploadRequest { UploadRequest(.get) }
    func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
      guard piece.isLast else { return UploadRequest(.patch) }
      let digest = piece.contentDigest.map { $0.base64EncodedString() } ?? "none"
      return UploadRequest(.put, url: end, query: ["digest": digest])
    }
    func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
      if answer.status == .created { return .finished }
      guard let offset = answer.headers["X-Offset"].flatMap({ Int64($0) }) else { return .failed }
      let location = answer.headers[.location].flatMap { URL(string: $0, relativeTo: answer.url)?.absoluteURL }
      return .at(offset, location: location)
    }
    func cancel(_ session: UploadSession) -> UploadRequest? { UploadRequest(.delete) }
  }

  /// Accepts each location once.
  private final class Shop: Sendable {
    let mock: MockServer
    let server: Server
    let data = Shared(Data())
    /// Whether the server stores only half of the next chunk.
    let halves = Shared(false)

    init(_ location: @escaping @Sendable (Int) -> String = { "/uploads/\($0)?state=\($0)" }) throws {
      mock = try MockServer()
      server = Server(
        mock.url,
        configure: {
          $0.log = .discard
          $0.retryPolicy = .never
        })
      let (data, halves) = (data, halves)
      let step = Shared(0)
      mock.route(.post, "/files") { _ in .status(202, headers: [.location: location(0)]) }
      mock.route(.put, "/end") { request in
        data.withLock { $0.append(request.body) }
        return .status(.created)
      }
      mock.route("/uploads/*") { request in
        guard request.target.hasPrefix(location(step.withLock { $0 })) else { return .status(.notFound) }
        if request.method == .put || request.method == .patch {
          let isHalf = halves.withLock { halves in
            defer { halves = false }
            return halves
          }
          data.withLock { $0.append(isHalf ? request.body.prefix(request.body.count / 2) : request.body) }
        }
        if request.method == .put { return .status(.created) }
        if request.method == .patch { step.withLock { $0 += 1 } }
        return .status(
          202, headers: [.location: location(step.withLock { $0 }), "X-Offset": "\(data.withLock { $0.count })"])
      }
    }

    func task() -> UploadShop.AddFile { UploadShop.AddFile(server: server) }

    var lines: [String] { mock.requests.map { "\($0.method) \($0.target) \($0.body.count)" } }
  }

  private static func digest(_ data: Data) -> String {
    HTTPQuery(["digest": Data(SHA256.hash(Array(data))).base64EncodedString()]).encoded
  }

  @Test func `sends each chunk to the latest location and the file's digest with the last chunk`() async throws {
    try await withUpload(100_000) { file, data in
      let shop = try Shop()
      let upload = ResumableUpload(of: file, with: shop.task(), by: Moving(), chunkSize: 40_000)
      try await upload.run()
      #expect(
        shop.lines == [
          "POST /files?name=file.txt 0", "PATCH /uploads/0?state=0 40000", "PATCH /uploads/1?state=1 40000",
          "PUT /uploads/2?state=2&\(Self.digest(data)) 20000",
        ])
      #expect(shop.data.withLock { $0 } == data && upload.location?.path == "/uploads/2")
    }
  }

  private struct Enough: Error {}

  @Test func `a later run continues at the latest location, and discard deletes the upload there`() async throws {
    try await withUpload(100_000) { file, data in
      let shop = try Shop()
      await shop.server.update { configuration in
        configuration.preflight = { _, request in if request.method == .put { throw Enough() } }
      }
      func upload() -> ResumableUpload {
        ResumableUpload(of: file, with: shop.task(), by: Moving(), chunkSize: 40_000)
      }
      await #expect(throws: Enough.self) { try await upload().run() }
      await #expect(throws: Enough.self) { try await upload().run() }
      #expect(shop.lines.dropFirst(3) == ["GET /uploads/2?state=2 0"])
      try await upload().discard()
      #expect(shop.lines.last == "DELETE /uploads/2?state=2 0")
    }
  }

  @Test(arguments: [nil, 100_000] as [Int64?])
  func `the digest of bytes from a closure is correct even if bytes are requested again`(length: Int64?) async throws {
    let shop = try Shop()
    let data = RangeShop.bytes(100_000)
    shop.halves.withLock { $0 = true }
    let upload = ResumableUpload(named: "a", length: length, with: shop.task(), by: Moving(), chunkSize: 40_000) {
      offset, count in Data(data.dropFirst(Int(offset)).prefix(count))
    }
    try await upload.run()
    #expect(shop.lines[2].hasSuffix(" 40000") && shop.data.withLock { $0 } == data)
    #expect(shop.lines.last?.contains(Self.digest(data)) == true)
  }

  @Test func `sends the digest of an empty file`() async throws {
    try await withUpload(0) { file, data in
      let shop = try Shop()
      try await ResumableUpload(of: file, with: shop.task(), by: Moving()).run()
      #expect(shop.lines.last == "PUT /uploads/0?state=0&\(Self.digest(data)) 0")
    }
  }

  @Test func `sends a request to its own URL if it has one`() async throws {
    try await withUpload(1000) { file, data in
      let shop = try Shop()
      let dialect = Moving(contentChecksum: nil, end: shop.mock.url.appendingPathComponent("end"))
      try await ResumableUpload(of: file, with: shop.task(), by: dialect).run()
      #expect(shop.lines.last == "PUT /end?digest=none 1000" && shop.data.withLock { $0 } == data)
    }
  }

  @Test func `rejects a location or a request's own URL that contains a user name`() async throws {
    try await withUpload(100_000) { file, _ in
      let shop = try Shop { $0 == 0 ? "/uploads/0" : "http://ann@127.0.0.1/uploads/1" }
      let moved = ResumableUpload(of: file, with: shop.task(), by: Moving(), chunkSize: 40_000)
      let error = await #expect(throws: TaskError.self) { try await moved.run() }
      #expect(error?.code == .badResponse && error?.reason.contains("upload location") == true, "\(error as Any)")
      #expect(shop.lines.count == 2)
      try await moved.discard()
      let end = try #require(URL(string: "http://ann@127.0.0.1/end"))
      let other = try Shop()
      let upload = ResumableUpload(of: file, with: other.task(), by: Moving(end: end))
      #expect(await #expect(throws: TaskError.self) { try await upload.run() }?.code == .badResponse)
      #expect(other.lines.count == 1)
    }
  }
}
