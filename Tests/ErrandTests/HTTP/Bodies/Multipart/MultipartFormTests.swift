import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Multipart forms (RFC 7578).
@Suite(.timeLimit(.minutes(1))) struct MultipartFormTests {
  private func bytes(_ body: HTTPBody) async throws -> Data {
    let all = Shared(Data())
    try await body.forEachChunk { chunk in all.withLock { $0 += chunk } }
    return all.withLock { $0 }
  }

  @Test func `writes parts in order, byte for byte`() async throws {
    let form = MultipartForm(
      [
        .text("title", "Sun\r\nset é"), .data("raw", Data([0, 255]), fileName: "a.bin"),
        .body("meta", .bytes(Data("{}".utf8), type: .json)),
      ],
      boundary: "B")
    let expected =
      Data("--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nSun\r\nset é\r\n".utf8)
      + Data(
        "--B\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
          .utf8)
      + Data([0, 255])
      + Data(
        "\r\n--B\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{}\r\n--B--\r\n"
          .utf8)
    let body = try form.body()
    #expect(try await bytes(body) == expected)
    #expect(
      try body.length() == Int64(expected.count) && body.isReplayable
        && body.mediaType == "multipart/form-data; boundary=B")
    #expect(try await bytes(MultipartForm([], boundary: "B").body()) == Data("--B--\r\n".utf8))
  }

  // HTML Standard, "multipart/form-data encoding algorithm": 0x0A, 0x0D and 0x22 become %0A, %0D and %22.
  @Test func `a name can't break out of its line or quotes`() async throws {
    let evil = "a\"\r\nX: y\r\n\r\nb%22"
    let form = MultipartForm([.data(evil, Data(), fileName: evil, type: MediaType("x/y\r\nX: y"))], boundary: "B")
    let text = String(decoding: try await bytes(form.body()), as: UTF8.self)
    let escaped = "a%22%0D%0AX: y%0D%0A%0D%0Ab%22"
    #expect(
      text
        == "--B\r\nContent-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\nContent-Type: x/y%0D%0AX: y\r\n\r\n\r\n--B--\r\n"
    )
  }

  @Test func `writes a file with its name and type`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("a b.png")
      try Data("png".utf8).write(to: file)
      let body = try MultipartForm([.file("photo", file)], boundary: "B").body()
      let text = String(decoding: try await bytes(body), as: UTF8.self)
      #expect(text.contains("name=\"photo\"; filename=\"a b.png\"\r\nContent-Type: image/png\r\n\r\npng\r\n"))
      #expect(try body.length() == Int64(text.utf8.count))
      #expect(throws: (any Error).self) {
        try MultipartForm([.file("x", folder.appendingPathComponent("none"))]).body()
      }
    }
  }

  @Test(arguments: [("photo.jpg", "image/jpeg"), ("notes", nil)])
  func `a file has the media type of its extension in every kind of body`(name: String, type: MediaType?) {
    struct Send: FileUploadingTask { let uploadFile: URL }
    let file = URL(fileURLWithPath: "/tmp/\(name)")
    #expect(HTTPBody.file(file).mediaType == type && Send(uploadFile: file).uploadType == type ?? .octetStream)
    #expect(HTTPBody.file(file, type: .json).mediaType == .json)
  }

  @Test func `a form inherits a part's unknown length and one-shot behavior`() throws {
    let stream = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
    let once = HTTPBody.once(AsyncStream<Data> { $0.finish() }, length: 0)
    #expect(try MultipartForm([.body("a", stream)]).body().length() == nil)
    #expect(try MultipartForm([.body("a", stream)]).body().isReplayable)
    #expect(try MultipartForm([.body("a", once)]).body().length() != nil)
    #expect(try !MultipartForm([.text("b", ""), .body("a", once)]).body().isReplayable)
  }

  @Test func `boundaries are unique and don't need quotes`() {
    let boundaries = Set((0..<100).map { _ in MultipartForm().boundary })
    #expect(boundaries.count == 100)
    #expect(
      boundaries.allSatisfy {
        $0.utf8.count <= 70 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
      })
    #expect(MultipartForm([], boundary: "x").mediaType.parameter("boundary") == "x")
  }

  private struct AddPhoto: ServerPOSTTask, MultipartUploadingTask {
    let uploadForm = MultipartForm([.text("title", "x")], boundary: "B")
  }

  @Test func `a task sends a form with the form's media type and length`() async throws {
    let stub = StubServer(.status(.created))
    try await AddPhoto().on(stub.server).upload()
    let request = try #require(stub.requests.first)
    #expect(request.headers[.contentType] == "multipart/form-data; boundary=B")
    let length = try request.body.length()
    #expect(try await bytes(request.body).count == length.map(Int.init))
  }

  @Test func `an unreadable file fails the call before anything is sent`() async {
    struct Broken: ServerPOSTTask, MultipartUploadingTask {
      let uploadForm = MultipartForm([.file("x", URL(fileURLWithPath: "/nowhere/at/all"))])
    }
    let stub = StubServer(.status(.created))
    let error = await #expect(throws: TaskError.self) { try await Broken().on(stub.server).upload() }
    #expect(error?.code == .unreadableBody && stub.requests.isEmpty)
  }

  // MARK: Reading

  private func response(_ text: String, _ type: String = "multipart/mixed; boundary=\"a;b\"") -> HTTPResponse {
    HTTPResponse(url: .known("https://a.test"), headers: [.contentType: type], body: HTTPResponseBody(Data(text.utf8)))
  }

  @Test func `yields parts one by one and skips unread bodies`() async throws {
    let text =
      "--a;b\r\nContent-Type: text/html\r\n\r\none\r\n--a;b\r\n\r\nskipped\r\n--a;b\r\nContent-Disposition: form-data; name=n; filename=\"f\"\r\n\r\nthree\r\n--a;b--"
    var (bodies, types, names) = ([String](), [MediaType](), [String?]())
    var skipped: MultipartPart?
    for try await part in try response(text).parts() {
      types.append(part.mediaType)
      names.append(part.disposition?.fileName)
      if types.count == 2 {
        skipped = part
      } else {
        bodies.append(String(decoding: try await part.body.collect(), as: UTF8.self))
      }
    }
    #expect(
      bodies == ["one", "three"] && types == ["text/html", "text/plain", "text/plain"] && names == [nil, nil, "f"])
    let late = await #expect(throws: TaskError.self) { _ = try await skipped?.body.collect() }
    #expect(late?.code == .unreadableBody, "the body of a skipped part can no longer be read")
  }

  /// A body whose second part never ends.
  private final class EndlessPart: HTTPBodySource {
    let read = Counter()
    let timings: TransferTimings? = nil
    let trailers = HTTPHeaders()

    func next() async throws -> Data? {
      read.add()
      guard read.count < 1000 else { return nil }  // Ends so that an unlimited reader fails instead of hanging.
      return read.count == 1 ? Data("--b\r\n\r\none\r\n--b\r\n\r\n".utf8) : Data(repeating: 65, count: 1000)
    }

    func cancel() {}
  }

  @Test(arguments: [true, false]) func `throws .bodyTooLarge for a part that never ends`(isRead: Bool) async throws {
    let source = EndlessPart()
    let answer = HTTPResponse(
      url: .known("https://a.test"), headers: [.contentType: "multipart/mixed; boundary=b"],
      body: HTTPResponseBody(source))
    var bytes = 0
    let error = await #expect(throws: TaskError.self) {
      for try await part in try answer.parts(limits: MultipartLimits(bodySize: 10_000)) {
        guard isRead else { continue }
        for try await chunk in part.body { bytes += chunk.count }
      }
    }
    #expect(error?.code == .bodyTooLarge)
    #expect(error?.reason.contains("the body of part 2 exceeds MultipartLimits.bodySize (10000 bytes)") == true)
    #expect(source.read.count == 12 && bytes == (isRead ? 10_003 : 0))
  }

  @Test(arguments: [
    ("filename=\"../../etc/passwd\"", nil, "passwd"), ("filename=\"C:\\\\x\\\\a.txt\"", nil, "a.txt"),
    ("filename*=UTF-8''..%2F%2e%2e%2Fa%00b", "image/png", "b.png"), ("filename=\"..\"", nil, "download"),
    ("filename=\"\"", "text/plain", "download.txt"), ("name=n", nil, "download"),
    ("filename=\"report.pdf\"", "text/plain", "report.pdf"),
  ]) func `suggests a file name that is safe to use in any folder`(said: String, type: String?, name: String)
    async throws
  {
    let field = type.map { "Content-Type: \($0)\r\n" } ?? ""
    let text = "--a;b\r\nContent-Disposition: form-data; \(said)\r\n\(field)\r\none\r\n--a;b--"
    var names: [String] = []
    for try await part in try response(text).parts() { names.append(part.suggestedFileName) }
    #expect(names == [name])
  }

  @Test func `throws for a truncated body and for a part that exceeds the collect limit`() async throws {
    let cut = await #expect(throws: TaskError.self) {
      for try await part in try response("--a;b\r\n\r\none\r\n--a;b\r\n").parts() { _ = try await part.body.collect() }
    }
    #expect(cut?.code == .truncatedBody)
    await #expect(throws: HTTPBodyLimitError.self) {
      for try await part in try response("--a;b\r\n\r\none\r\n--a;b--").parts() {
        _ = try await part.body.collect(upTo: 2)
      }
    }
  }

  @Test(arguments: [
    "text/plain; boundary=b", "multipart/mixed", "multipart/mixed; boundary=\(String(repeating: "b", count: 71))",
    "multipart/mixed; boundary=\"\"",
  ])
  func `rejects a media type without a valid boundary`(type: String) {
    #expect(throws: TaskError.self) { try response("", type).parts() }
  }

  @Test func `streams a large file in small chunks`() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-sparse-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data().write(to: file)
    let size = 64 << 20
    try #require(truncate(file.path, size) == 0)
    let body = try MultipartForm([.text("a", "b"), .file("c", file)]).body()
    let (sent, largest) = (Shared(0), Shared(0))
    try await body.forEachChunk { chunk in
      sent.withLock { $0 += chunk.count }
      largest.withLock { $0 = max($0, chunk.count) }
    }
    #expect(try body.length() == Int64(sent.withLock { $0 }) && sent.withLock { $0 } > size)
    #expect(largest.withLock { $0 } <= 256 << 10)
  }

  @Test func `a form survives encoding and parsing`() async throws {
    let form = MultipartForm([.text("a", "--\r\n--"), .text("é", ""), .data("b", Data("\r\n".utf8), fileName: "x")])
    let body = try form.body()
    let answer = HTTPResponse(
      url: .known("https://a.test"), headers: [.contentType: form.mediaType.rawValue],
      body: HTTPResponseBody(try await bytes(body)))
    var all: [String: Data] = [:]
    for try await part in try answer.parts() { all[part.disposition?.name ?? ""] = try await part.body.collect() }
    #expect(all == ["a": Data("--\r\n--".utf8), "é": Data(), "b": Data("\r\n".utf8)])
  }

  private func stream(_ count: Int, stated: Int64?) -> HTTPBody {
    .stream(length: stated) {
      AsyncStream { chunks in
        chunks.yield(Data(count: count))
        chunks.finish()
      }
    }
  }

  @Test(arguments: [50, 2] as [Int64])
  func `a part with a wrong declared length throws, even if another part's length is unknown`(stated: Int64)
    async throws
  {
    let form = MultipartForm([.body("s", stream(5, stated: stated)), .body("u", stream(3, stated: nil))])
    let body = try form.body()
    #expect(try body.length() == nil)
    let error = await #expect(throws: TaskError.self) { try await bytes(body) }
    #expect(error?.code == .bodyLengthMismatch)
  }

  #if os(Linux)
    @Test(arguments: [50, 2] as [Int64])
    func `a compressed stream with a wrong declared length throws`(stated: Int64) async throws {
      let compressed = try #require(try stream(5, stated: stated).gzipped())
      let error = await #expect(throws: TaskError.self) { try await bytes(compressed) }
      #expect(error?.code == .bodyLengthMismatch)
      let right = try #require(try stream(5, stated: 5).gzipped())
      #expect(try await bytes(right).prefix(2) == Data([0x1F, 0x8B]))
    }
  #endif

  @Test func `does not compress a body if zlib is missing`() throws {
    let compressed = try HTTPBody.bytes(Data("x".utf8), type: nil).gzipped(by: { nil })
    #expect(compressed.map(\.isEmpty) == nil)
  }

  @Test(arguments: [Int64.max, -1]) func `rejects a negative or overflowing length`(stated: Int64) throws {
    let form = MultipartForm([.body("a", stream(1, stated: stated)), .body("b", stream(1, stated: 1))])
    let error = #expect(throws: TaskError.self) { try form.body() }
    #expect(error?.code == .bodyLengthMismatch)
  }

  @Test func `rejects URLs that are not file URLs`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("secret.txt")
      try Data("secret".utf8).write(to: file)
      let remote = try #require(URL(string: "https://shop.test\(file.path)"))
      #expect(throws: TaskError.self) { try MultipartForm([.file("f", remote)]).body() }
      #expect(throws: (any Error).self) { try HTTPBody.file(remote).length() }
      await #expect(throws: (any Error).self) { try await bytes(HTTPBody.file(remote)) }
      #expect(try await bytes(HTTPBody.file(file)) == Data("secret".utf8))
    }
  }

  private struct Photo: ServerPOSTTask, MultipartUploadingTask {
    let path = "photos"
    var uploadForm: MultipartForm {
      get throws {
        MultipartForm([.text("a", "1"), .body("b", try MultipartForm([.text("c", "2")]).body())])
      }
    }
  }

  @Test func `all attempts of an idempotent call send the same bytes, but different calls don't`() async throws {
    let stub = StubServer(.status(503), .status(503), .status(201), .status(201))
    try await Photo().idempotency(.key).on(stub.server).upload()
    try await Photo().idempotency(.key).on(stub.server).upload()
    var bodies: [Data] = []
    for request in stub.requests { bodies.append(try await bytes(request.body)) }
    #expect(bodies.count == 4 && bodies[0] == bodies[1] && bodies[1] == bodies[2] && bodies[2] != bodies[3])
    let boundaries = Set(String(decoding: bodies[0], as: UTF8.self).matches(of: /errand-[0-9-]+[0-9]/).map { $0.0 })
    #expect(boundaries.count == 2, "a nested form has its own boundary")
  }

  private struct Listed: ServerPOSTTask, PayloadUploadingTask {
    let uploadPayload = Dictionary(uniqueKeysWithValues: (0..<20).map { ("k\($0)", $0) })
  }

  @Test func `encodes a JSON payload to the same bytes each time`() async throws {
    let stub = StubServer(.status(200))
    for _ in 0..<5 { try await Listed().on(stub.server).upload() }
    #expect(Set(stub.requests.map(\.body.data)).count == 1)
  }

  @Test func `the form's media type overrides the server's, and the task's overrides the form's`() async throws {
    let stub = StubServer(.status(200)) { $0.standardHeaders[.contentType] = "application/json" }
    let form = Photo().on(stub.server)
    try await form.upload()
    try await form.header(.contentType, "multipart/form-data").upload()
    try await form.header(.contentType, "multipart/mixed; boundary=x").upload()
    try await form.header(.contentType, "text/plain").upload()
    let types = stub.requests.compactMap { $0.headers[.contentType] }
    #expect(
      types[0].hasPrefix("multipart/form-data; boundary=errand-")
        && types[1].hasPrefix("multipart/form-data; boundary=errand-"))
    #expect(types[2...] == ["multipart/mixed; boundary=x", "text/plain"])
  }
}
