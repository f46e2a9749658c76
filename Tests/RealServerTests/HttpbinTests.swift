#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Tests with httpbin, a server made for testing HTTP clients.
  @Suite(.enabled(if: Httpbin.isExpected, "httpbin is not installed"), .timeLimit(.minutes(3)))
  struct HttpbinTests {
    private let httpbin: Httpbin
    private let server: Server

    init() async throws {
      httpbin = try await Httpbin()
      server = Server(Remote(httpbin.url), environment: [:])
    }

    /// A request as httpbin received it.
    private struct Seen: Decodable, Sendable {
      let args: [String: String]
      let data: String
      let form: [String: String]
      let headers: [String: String]
      let method: String
      let url: String
    }

    private struct Authenticated: Decodable, Sendable {
      let authenticated: Bool
    }

    private struct Fetch<Payload: Decodable & Sendable>: PayloadDownloadingTask {
      typealias DownloadPayload = Payload
      let path: String
      var headers: HTTPHeaders = [:]
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "\(httpbin.url)/\(path)")) }

    private func seen(_ task: URLTask) async throws -> Seen {
      try JSONDecoder().decode(Seen.self, from: try await task.on(server).downloadData())
    }

    // MARK: Requests

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func `the server receives the method, query, headers and body`(method: HTTPMethod) async throws {
      let task = URLTask(
        try url("anything/a?q=h%C3%A9&q2=%26"), method: method, headers: ["X-Colour": "blue"], body: .text("grüße"))
      let seen = try await seen(task)
      #expect(seen.method == method.rawValue && seen.args == ["q": "hé", "q2": "&"])
      #expect(seen.data == "grüße" && seen.headers["X-Colour"] == "blue")
    }

    @Test func `the server receives form fields unchanged`() async throws {
      let body = HTTPBody.bytes(Data("name=a+b&note=%26%3D".utf8), type: .form)
      #expect(
        try await seen(URLTask(try url("anything"), method: .post, body: body)).form == ["name": "a b", "note": "&="])
    }

    private struct Account: Encodable {
      let name = "a b+c&é"
      let tags = ["x", "y"]
      let address = ["city": "Ulm"]
      let none: String? = nil
    }

    private struct Told: Decodable, Sendable {
      /// A single value, or the list of values of a repeated name.
      enum Value: Decodable, Equatable {
        case one(String)
        case many([String])

        init(from decoder: any Decoder) throws {
          let value = try decoder.singleValueContainer()
          self = try (try? value.decode(String.self)).map { .one($0) } ?? .many(value.decode([String].self))
        }
      }
      let args: [String: Value]
      let form: [String: Value]
      let files: [String: String]
    }

    private static let reported: [String: Told.Value] = [
      "name": .one("a b+c&é"), "tags": .many(["x", "y"]), "address[city]": .one("Ulm"),
    ]

    @Test func `encodes a value as a form or a query`() async throws {
      struct Send: ServerPOSTTask, FormUploadingTask, PayloadDownloadingTask {
        typealias DownloadPayload = Told
        let uploadPayload = Account()
        let query = Account()
        let path = "anything"
      }
      let seen = try await Send().on(server).download()
      #expect(seen.form == Self.reported && seen.args == Self.reported)
    }

    @Test func `werkzeug's parser reads a form with files`() async throws {
      struct Send: ServerPOSTTask, MultipartUploadingTask, PayloadDownloadingTask {
        typealias DownloadPayload = Told
        let uploadForm = MultipartForm([
          .text("a \"b\"", "1\r\n--"), .data("f", Data("--errand\r\n".utf8), fileName: "é.txt", type: .plainText),
        ])
        let path = "anything"
      }
      let seen = try await Send().on(server).download()
      #expect(seen.form == ["a \"b\"": .one("1\r\n--")] && seen.files == ["f": "--errand\r\n"])
    }

    @Test func `werkzeug parses every kind of endpoint body`() async throws {
      let form = MultipartForm([.text("a", "1"), .data("f", Data("x".utf8), fileName: "f.txt", type: .plainText)])
      let parts = try await Endpoint<HTTPBody, Told>.post("anything", form: form).on(server).download()
      #expect(parts.form == ["a": .one("1")] && parts.files == ["f": "x"])
      let fields = try await Endpoint<HTTPBody, Told>.put("anything", body: .form(["a": "b c&"])).on(server).download()
      #expect(fields.form == ["a": .one("b c&")])
      // The response contains the JSON body inside an envelope.
      let seen = try await Endpoint<JSONValue, JSONValue>.post(
        "anything", body: ["big": 9_007_199_254_740_993, "none": nil]
      )
      .payloadPath("json").on(server).download()
      #expect(seen == ["big": 9_007_199_254_740_993, "none": nil])
    }

    @Test func `the server receives a path segment as one segment`() async throws {
      struct Find: ServerGETTask, PayloadDownloadingTask {
        typealias DownloadPayload = Seen
        let label: String
        var path: [String] { ["anything", label, "x"] }
      }
      let seen = try await Find(label: "50% é?#;").on(server).download()
      #expect(seen.url.contains("/anything/50%") && seen.url.hasSuffix("%3F%23;/x"))
    }

    // MARK: Responses

    @Test(arguments: ["gzip", "deflate", "brotli"])
    func `decompresses a gzip, deflate or brotli body`(coding: String) async throws {
      struct Packed: Decodable { let gzipped, deflated, brotli: Bool? }
      let data = try await URLTask(try url(coding)).on(server).downloadData()
      let compressed = try JSONDecoder().decode(Packed.self, from: data)
      #expect([compressed.gzipped, compressed.deflated, compressed.brotli].contains(true))
    }

    @Test func `reads the lines of a stream`() async throws {
      let response = try await URLTask(try url("stream/20")).on(server).stream()
      let text = String(decoding: try await response.body.collect(), as: UTF8.self)
      #expect(text.split(separator: "\n").count == 20)
    }

    @Test func `returns the requested range of a body`() async throws {
      let task = URLTask(try url("range/1024"), headers: [.range: "bytes=256-511"])
      let part = try await task.on(server).response()
      #expect(part.payload.count == 256 && part.status == 206)
      #expect(part.headers[.contentRange] == "bytes 256-511/1024")
    }

    @Test func `a ByteRange requests a range and throws if the server does not support ranges`() async throws {
      let task = URLTask(try url("range/1024")).on(server)
      let whole = try await task.downloadData()
      for (range, part) in [
        (ByteRange(256..<512), whole[256..<512]), (.last(24), whole[1000...]), (ByteRange(1000...), whole[1000...]),
      ] {
        #expect(try await task.range(range).downloadData() == Data(part))
      }
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(try url("bytes/1024")).on(server).range(.first(10)).downloadData()
      }
      #expect(error?.reason.contains("does not support Range") == true)
    }

    @Test func `a download uses the file name suggested by the server`() async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-into-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let name = "attachment%3B%20filename%2A%3DUTF-8%27%27%25e2%2582%25ac%2520rates.txt"
      let named = try url("response-headers?Content-Disposition=\(name)")
      #expect(
        try await URLTask(named).on(server).download(into: folder).payload.lastPathComponent == "€ rates.txt")
      #expect(
        try await URLTask(named).on(server).download(into: folder).payload.lastPathComponent == "€ rates (2).txt")
    }

    @Test(arguments: [400, 404, 418, 429, 500])
    func `a bad status throws an error with the status`(code: Int) async throws {
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(try url("status/\(code)")).on(server).retry(.never).run()
      }
      #expect(error?.status == HTTPStatus(code))
    }

    @Test func `an unchanged resource returns a 304 for its ETag or date`() async throws {
      let tagged = URLTask(try url("etag/abc"), headers: ["If-None-Match": "\"abc\""])
      #expect(try await tagged.on(server).accepting(.all).run().status == 304)
      let other = URLTask(try url("etag/abc"), headers: ["If-None-Match": "\"def\""])
      #expect(try await other.on(server).run().headers["ETag"] == "abc")
      let dated = URLTask(try url("cache"), headers: ["If-Modified-Since": "Sat, 21 Nov 2026 10:00:00 GMT"])
      #expect(try await dated.on(server).accepting(.all).run().status == 304)
    }

    // MARK: Redirects

    @Test(arguments: ["redirect/5", "relative-redirect/5", "absolute-redirect/5"])
    func `follows five redirects to the final page`(path: String) async throws {
      let response = try await URLTask(try url(path)).on(server).run()
      #expect(response.redirects.count == 5 && response.url.path == "/get")
    }

    @Test func `throws .tooManyRedirects after twenty redirects`() async throws {
      let error = await #expect(throws: TaskError.self) {
        try await URLTask(try url("redirect/21")).on(server).run()
      }
      #expect(error?.code == .tooManyRedirects)
    }

    // RFC 9110 §15.4.2 to §15.4.9.
    @Test(arguments: [
      (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "once"), (308, "POST", "once"),
    ])
    func `a redirected POST keeps or changes its method according to RFC 9110`(code: Int, method: String, body: String)
      async throws
    {
      let task = URLTask(
        try url("redirect-to?url=/anything&status_code=\(code)"), method: .post, body: .text("once"))
      let seen = try await seen(task)
      #expect(seen.method == method && seen.data == body)
    }

    // MARK: Authentication

    @Test(arguments: ["basic-auth", "hidden-basic-auth"])
    func `httpbin accepts correct Basic credentials and rejects incorrect ones`(path: String) async throws {
      let task = Fetch<Authenticated>(path: "\(path)/ann/open%20sesame").on(server)
      #expect(try await task.authenticated(.basic(user: "ann", password: "open sesame")).download().authenticated)
      let error = await #expect(throws: TaskError.self) {
        try await task.authenticated(.basic(user: "ann", password: "open barley")).download()
      }
      #expect(error?.status == (path == "basic-auth" ? 401 : 404))
    }

    @Test func `httpbin accepts a bearer token`() async throws {
      let task = Fetch<Authenticated>(path: "bearer").on(server)
      #expect(try await task.authenticated(.bearer("t0ken")).download().authenticated)
      await #expect(throws: TaskError.self) { try await task.download() }
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `httpbin accepts Digest credentials`(algorithm: String) async throws {
      await server.update {
        $0.preflight = { _, request in request.options.digest = Credential(user: "ann", password: "sesame") }
      }
      let task = Fetch<Authenticated>(path: "digest-auth/auth/ann/sesame/\(algorithm)")
      #expect(try await task.on(server).download().authenticated)
    }
  }
#endif
