import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Puts secrets in every possible place, then searches all output for them.
@Suite(.timeLimit(.minutes(1))) struct PlantedSecretsTests {
  private static let names = [
    "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Goog-Api-Key", "X-Session-Token", "X-Auth-Token",
    "X-Amz-Signature", "X-Amz-Security-Token", "X-Client-Secret", "X-CSRF-Token", "Private-Token",
  ]
  private static let fieldNames = [
    "access_token", "accessToken", "refresh-token", "client_secret", "clientSecret", "newPassword", "api_key", "sig",
    "X-Amz-Credential", "code", "session_id", "id_token",
  ]
  private static let urls = [
    "https://admin:planted40@b.test/", "https://b.test/?token=planted41", "/cb#access_token=planted42",
    "https://b.test/?next=https%3A%2F%2Fc.test%2F%3Fpassword%3Dplanted43",
  ]

  private struct Leaky: ServerPOSTTask, PayloadDownloadingTask, EchoingTask {
    typealias DownloadPayload = Widget
    let server: Server
    var path: String { "login;jsessionid=planted50" }
    var query: HTTPQuery { HTTPQuery(fieldNames.enumerated().map { .init($1, "planted\($0 + 12)") }) }
    var headers: HTTPHeaders {
      var headers = HTTPHeaders(names.enumerated().map { .init(HTTPHeaderName($1), "planted\($0)") })
      for url in urls { headers.add(url, for: "Referer") }
      return headers
    }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      let pairs = fieldNames.enumerated().map { "\($1)=planted\($0 + 24)" }
      return .bytes(Data(pairs.joined(separator: "&").utf8), type: .form)
    }
  }

  private static func answer(_ request: HTTPRequest, status: HTTPStatus, type: MediaType) -> HTTPResponse {
    var headers: HTTPHeaders = [.setCookie: "a=planted44", "X-Refresh-Token": "planted45", .contentType: type.rawValue]
    for url in urls {
      headers.add(url, for: .location)
      headers.add("<\(url)>; rel=\"next\"", for: .link)
    }
    let body =
      type == .form
      ? "user=a&newPassword=planted46"
      : #"{"accessToken":"planted46","a":{"clientSecret":["planted47"]},"next":"https://x:planted48@b.test/?sig=planted49"}"#
    return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(body.utf8)))
  }

  /// Returns all output created from recorded calls.
  private static func texts(of calls: [RecordedCall]) throws -> [String] {
    var texts = calls.flatMap { ["\($0)", String(reflecting: $0), $0.diagnosis?.description ?? ""] }
    texts += try calls.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    texts += calls.flatMap { $0.exchanges.compactMap { $0.curlCommand() } }  // curl
    texts.append(String(decoding: try HTTPArchive(calls).data(), as: UTF8.self))  // HAR
    return texts
  }

  private struct AppError: Error { let url = "https://admin:planted51@b.test/?token=planted52" }

  @Test func `no output contains a planted secret`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      let events = EventRecorder()
      let number = Counter()
      var configuration = ServerConfiguration()
      configuration.log = LogOutput { text in output.withLock { $0.append(text) } }
      configuration.logStyle = .steps
      configuration.logOptions = .full
      let spans = SpanRecorder(to: .file(folder.appendingPathComponent("spans/spans.jsonl")), log: .discard)
      configuration.observers = [events, spans]
      let calls = RecordedCalls()
      let log = try HTTPLog(in: folder.appendingPathComponent("log"))
      configuration.recorders = [calls, log]
      configuration.userAgent = "tests"
      let transport = StubTransport { request in
        number.add()
        output.withLock { $0.append("\(request)\n\(request.headers)\n\(String(reflecting: request.headers))") }
        output.withLock { $0.append(request.curlCommand()) }  // curl
        let pasted = try CurlCommand(request.curlCommand(redaction: nil))  // curl
        output.withLock { $0.append("\(pasted) \(pasted.task)") }  // curl
        switch number.count {
        case 1: return Self.answer(request, status: 401, type: .json)
        case 2: return Self.answer(request, status: 422, type: .form)
        case 3: return Self.answer(request, status: .ok, type: .plainText)
        case 4: throw AppError()
        default: return Self.answer(request, status: .ok, type: .json)
        }
      }
      let server = Server(
        "https://shop.test/v1?key=planted54", configuration: configuration, transport: transport)
      let refused = Server(
        "https://admin:planted53@shop.test/v1", configuration: configuration, transport: transport,
        environment: [:])
      let refusal = await taskError { try await PlainTask().on(refused).run() }
      output.withLock { $0.append("\(refused.remote) \(refusal.map { "\($0)" } ?? "")") }
      let recordings = folder.appendingPathComponent("recordings")
      try await server.recordTaskPath(to: recordings)
      let task = Leaky(server: server).retry(.never)
      for _ in 0..<4 {
        do {
          _ = try await task.download()
        } catch {
          guard let error = error as? TaskError else { continue }  // The app's own errors are not redacted.
          output.withLock { $0.append("\(error)\n\(error.localizedDescription)") }
          let parts =
            "\(error.headers) \(error.url ?? "") \(error.record) \(error.attempts.map(\.outcome)) \(error.reason)"
          output.withLock { $0.append(parts + error.headers.map(\.value).joined(separator: "\n")) }
          let record = try JSONEncoder().encode(error.record)
          output.withLock { $0 += [error.record.summary, String(decoding: record, as: UTF8.self)] }
        }
      }
      let response = try await task.run()
      output.withLock { $0.append("\(response) \(String(reflecting: response)) \(response.headers) \(server.remote)") }
      let plain = URLTask(try #require(URL(string: "https://a:planted55@b.test/?token=planted56")))
      let endpoint = Endpoint<Void, Widget>.get("a", query: ["token": "planted57"])
      output.withLock {
        $0.append("\(plain) \(endpoint) \(endpoint.query) \(Credential(user: "u", password: "planted58"))")
      }
      await server.endTaskPathRecording()
      output.withLock { $0 += events.moments().map { "\($0)" } }
      await log.finish()
      await spans.flush()
      for place in [recordings, log.folder, folder.appendingPathComponent("spans")] {
        for name in try files(in: place) {
          let text = try String(contentsOf: place.appendingPathComponent(name), encoding: .utf8)
          output.withLock { $0 += [name, text] }
        }
      }
      #expect(
        calls.calls.map(\.exchanges.count) == [0, 1, 1, 1, 1, 1], "the first call is rejected before it sends a request"
      )
      let texts = try Self.texts(of: calls.calls)
      output.withLock { $0 += texts }
      let all = output.withLock { $0 }
      #expect(all.count > 50)
      for text in all {
        let found = text.matches(of: /planted\d+/).map { String($0.0) }
        #expect(found.isEmpty, "\(found) in \(text.prefix(3000))")
      }
      #expect(all.joined().contains(Redaction.mark))
    }
  }

  /// Bodies with characters escaped as in Go, .NET and Gson.
  private static let escapedBodies = [
    #"{"url":"https://a.test/?sp=r\u0026sig=s3cret\u0026x=1","id":7}"#,
    #"{"url":"https://a.test/?a=b\u0026code=s3cret"}"#,
    #"{"url":"https://a.test/?a=b\u0026key=s3cret"}"#, #"{"url":"https://a.test/?access_token\u003ds3cret"}"#,
    #"{"form":"user=a\u0026password\u003Ds3cret"}"#,
    #"{"raw":"{\u0022password\u0022:\u0022s3cret\u0022,\u0022a\u0022:1}"}"#,
    #"{"xml":"\u003cpassword\u003es3cret"}"#, #"{"xml":"\u003cpwd\u003es3cret\u003c/pwd\u003e","a":1}"#,
    #"{"db":"postgres://admin:s3cret\u0040db"}"#, #"{"url":"https://a.test/?x=1\u0026sig=s3cret"#,
    #"{"raw":"{\"url\":\"https://a.test/?x=1\\u0026sig=s3cret\"}"}"#, #"{"raw":"{\"\u0070wd\":\"s3cret\"}"}"#,
    #"{"https://a.test/?x=1\u0026sig=s3cret":1}"#, #"["5\" wide","https://a.test/?x=1\u0026sig=s3cret"]"#,
    "{\"a\":1}\n{\"url\":\"https://a.test/?x=1\\u0026sig=s3cret\"}\n{\"a\":2}",
    "data: 5\" wide\n\ndata: {\"url\":\"https://a.test/?x=1\\u0026sig=s3cret\"}\n\n",
    #"{"detail":"can\u0027t use private_key: -----BEGIN PRIVATE KEY-----\ns3cret\n-----END"}"#,
    #"{"raw":"GET /?a=1\u0026b=2 HTTP/1.1\r\nAuthorization: Bearer abc\r\nCookie: remember_me=s3cret\r\n"}"#,
    "var url = 'https://a.test/?x=1\\u0026sig=s3cret';", "5\" wide: https://a.test/?x=1\\u0026sig=s3cret",
  ]

  @Test(arguments: escapedBodies)
  func `hides a secret even if characters around its name are escaped`(body: String) {
    for type in [MediaType.json, .plainText, "text/event-stream"] {
      let shown = Redaction.standard.body(Data(body.utf8), type: type, limit: 1000)
      #expect(!shown.contains("s3cret") && shown.contains(Redaction.mark), "\(shown)")
      let line = Redaction.standard.excerpt(of: Data(body.utf8), type: type, count: 200)
      #expect(!line.contains("s3cret"), "\(line)")
      #expect(!Redaction.standard(text: body).contains("s3cret"))
    }
    guard (try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))) != nil, !body.contains("cpassword") else {
      return
    }
    let shown = Redaction.standard.body(Data(body.utf8), type: .json, limit: 1000)
    #expect(throws: Never.self) { try JSONDecoder().decode(JSONValue.self, from: Data(shown.utf8)) }
  }

  @Test func `escaped secrets do not leak into recordings, pages, archives or echoes`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      for body in Self.escapedBodies {
        let (calls, log) = (RecordedCalls(), try HTTPLog(in: folder.appendingPathComponent("log")))
        let stub = StubServer(.json(body)) {
          $0.log = LogOutput { text in output.withLock { $0.append(text) } }
          $0.logStyle = .steps
          $0.logOptions = .full
          $0.recorders = [calls, log]
        }
        try await PlainTask().on(stub.server).run()
        await log.finish()
        let texts = try Self.texts(of: calls.calls) + [String(contentsOf: log.page, encoding: .utf8)]
        output.withLock { $0 += texts }
      }
      let all = output.withLock { $0 }
      #expect(all.count > 50 && all.joined().contains(Redaction.mark))
      for text in all { #expect(!text.contains("s3cret"), "\(text.prefix(3000))") }
    }
  }

  @Test(arguments: ["code", "sig", "key", "sid", "otp", "access_token"])
  func `hides a secret in a URL fragment that contains a route`(name: String) async throws {
    for address in [
      "https://a.test/x#/cb?\(name)=s3cret", "/x#/cb?\(name)=s3cret&state=1", "/x#!/cb?a=1&\(name)=s3cret",
      "/x#/cb;\(name)=s3cret", "/x#/cb%3F\(name)=s3cret", "/index?/cb?\(name)=s3cret", "/x#/a?b?\(name)=s3cret",
      "/x#\(name)=s3cret?s3cret&state=1", "/x#?\(name)=s3cret",
    ] {
      let shown = Redaction.standard(address: address)
      #expect(!shown.contains("s3cret") && shown.contains("=<redacted>"), "\(shown)")
    }
    let stub = StubServer(.status(302, [.location: "/x#/cb?\(name)=s3cret"]), .status(404))
    let error = try #require(await taskError { try await PlainTask().on(stub.server).retry(.never).run() })
    #expect(error.status == 404 && !"\(error) \(error.record) \(error.url ?? "")".contains("s3cret"), "\(error)")
  }

  @Test(arguments: [
    #""next":"https://a.test/cb?state=1&amp;code=s3cret""#, #""next":"https://a.test/cb%3Fcode%3Ds3cret""#,
    #""next":"https://a.test/cb%3Fstate%3D1%26code%3Ds3cret""#,
    #""next":"/in?to=https%3A%2F%2Fa.test%2Fcb%3Fcode%3Ds3cret""#,
    #""form":"code=s3cret&grant_type=authorization_code""#, #""next":"https://a.test/cb?state=1\u0026code=s3cret""#,
    #""next":"https://a.test/cb?a=1;code=s3cret""#, #""form":"Code=s3cret""#, #""oauth.code":"s3cret""#,
    #""raw":"{\"code\":\"s3cret\",\"grant_type\":\"authorization_code\"}""#,
    #""raw":"{\u0022code\u0022:\u0022s3cret\u0022,\u0022redirect_uri\u0022:\u0022/\u0022}""#,
  ]) func `shows error codes but hides OAuth authorization codes`(member: String) {
    let body = Data("{\"code\":\"E7\",\"Code\" : 42,\"error\":{\"code\":\"E8\"},\(member)}".utf8)
    let line = Redaction.standard.excerpt(of: body, type: .json, count: 300)
    #expect(!line.contains("s3cret") && line.hasPrefix(#"{"code":"E7","Code" : 42,"error":{"code":"E8"},"#), "\(line)")
    let shown = Redaction.standard.body(body, type: .json, limit: 1000)
    #expect(
      !shown.contains("s3cret") && shown.hasPrefix(#"{"code":"E7","Code" : 42,"error":{"code":"E8"},"#), "\(shown)")
  }

  @Test(arguments: [
    ("<password>x<!-- c -->s3cret</password><a>b</a>", "<password><redacted></password><a>b</a>"),
    ("<password>x<b/>s3cret</password><a>b</a>", "<password><redacted></password><a>b</a>"),
    ("<token a='1'>x<token>y</token>s3cret</token><a>b</a>", "<token a='1'><redacted></token><a>b</a>"),
    ("<Password>x<br>s3cret</PASSWORD><a>b</a>", "<Password><redacted></PASSWORD><a>b</a>"),
    ("<password>s3cret<a>b</a>", "<password><redacted><a>b</a>"),
    ("<pwd/><a>b</a><pwd>s3cret<x>s3cret</pwd>", "<pwd/><a>b</a><pwd><redacted></pwd>"),
    ("<passwords>a</password></passwords><a>b</a>", "<passwords><redacted></passwords><a>b</a>"),
    (#"<password>x<b\/>s3cret<\/password><a>b<\/a>"#, #"<password><redacted><\/password><a>b<\/a>"#),
    ("<token><token>s3cret</token> and <a>b</a>", "<token><redacted></token> and <a>b</a>"),
    ("Password : s3cret\na : b", "Password : <redacted>\na : b"),
    ("the token\t: s3cret\nb", "the token\t: <redacted>\nb"),
    ("pwd+=s3cret&a=b", "pwd+=<redacted>&a=b"), ("a?sig%20=s3cret&a=b", "a?sig%20=<redacted>&a=b"),
  ]) func `hides an XML element up to its end tag and ignores whitespace around names in text`(
    text: String, shown: String
  ) {
    #expect(Redaction.standard(text: text) == shown)
  }

  @Test func `ignores whitespace around names in forms, queries and JSON`() {
    for name in ["pwd+", "+sig", "sig%20", "%09key%0A"] {
      #expect(Redaction.standard(address: "https://a.test/?a=b&\(name)=s3cret").hasSuffix("&\(name)=<redacted>"))
      let form = Redaction.standard.body(Data("\(name)=s3cret&a=b".utf8), type: .form, limit: 100)
      #expect(form == "\(name)=<redacted>&a=b")
    }
    let json = Redaction.standard.body(Data(#"{" pwd ":"s3cret"}"#.utf8), type: .json, limit: 100)
    #expect(json == #"{" pwd ":"<redacted>"}"#)
  }

  @Test(arguments: [
    "https://admin:hunt#s3cret@host.example/v1", "https://admin:s3cret/2@host.example/v1",
    "https://admin:?s3cret@host.example", #"https://admin:a\s3cret@host.example"#,
  ]) func `hides a URL's password even if it contains URL delimiters`(address: String) {
    let remote = Remote(address)
    #expect(!"\(remote) \(remote.name) \(Redaction.standard(address: address))".contains("s3cret"))
  }

  @Test(arguments: [
    ("see https://admin:hunt#s3cret@host.example/v1 or", "see https://<redacted>@host.example/v1 or"),
    ("'https://admin:s3cret/2@host.example'", "'https://<redacted>@host.example'"),
    ("(https://admin:?s3cret@a.b, https://me:s3#cret@c.d)", "(https://<redacted>@a.b, https://<redacted>@c.d)"),
    (#"https://admin:a\s3cret@host.example"#, "https://<redacted>@host.example"),
    ("https://host.example:x/a and me@host.example", "https://host.example:x/a and me@host.example"),
  ]) func `hides a URL's password in plain text even if it contains URL delimiters`(text: String, shown: String) {
    #expect(Redaction.standard(text: text) == shown)
  }

  @Test func `does not change URLs without a user name`() {
    for address in ["https://host.example:8080/a@b?c=d#e", "https://[::1]:80/a@b", "https://host.example/a:b@c"] {
      #expect(Redaction.standard(address: address) == address)
      #expect(
        Redaction.standard(text: "at \(address), b@c").hasPrefix(
          "at https://\(address.contains("[") ? "[::1]" : "host")"))
    }
  }

  @Test func `a decoding error does not quote a secret value`() async throws {
    enum Role: String, Codable { case reader }
    struct Answer: TaskPayload { let accessToken: Role }
    let stub = StubServer(.json(#"{"accessToken":"s3cret"}"#))
    let error = await #expect(throws: TaskError.self) {
      try await Endpoint<Void, Answer>.get("x").on(stub.server).download()
    }
    #expect(error?.reason.contains("s3cret") == false && error?.reason.contains("at accessToken") == true)
  }

  @Test func `shows only the byte count of UTF-16 text`() throws {
    let data = try #require("password=s3cret".data(using: .utf16LittleEndian))
    #expect(Redaction.standard.body(data, type: .plainText, limit: 1000) == "<30 bytes of text/plain>")
  }

  @Test func `the description of a query item hides its value`() {
    #expect("\(HTTPQuery.Item("token", "s3cret"))" == "token=<redacted>")
  }
}
