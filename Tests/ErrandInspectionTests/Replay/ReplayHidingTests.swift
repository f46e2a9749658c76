import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct ReplayHidingTests {
  private func server(
    _ transport: ReplayTransport, _ configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> Server {
    var configuration = ServerConfiguration()
    configure(&configuration)
    return Server(
      "https://shop.test", configuration: configuration, transport: transport,
      manager: TaskManager(clock: CallClock(ManualClock(.autoAdvancing))), environment: [:])
  }

  private func transport(
    _ file: URL, _ recording: ReplayRecording, _ answers: StubLog.Answer..., log: LogOutput = .discard
  ) throws -> (ReplayTransport, StubLog) {
    let stub = StubLog(answers)
    let transport = try ReplayTransport(
      from: file, options: ReplayOptions(recording: recording), over: StubTransport { try stub.answer($0) }, log: log)
    return (transport, stub)
  }

  @Test func `applies the server's redaction to recordings`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let strict = Redaction(headers: ["X-Pet"], fields: ["pet"])
      let (recording, _) = try transport(file, .once, .json(#"{"pet":"planted1","token":"shown"}"#))
      func get(_ token: String, over transport: ReplayTransport) async throws -> JSONValue {
        let task = Endpoint<Void, JSONValue>.get("me", query: ["token": token, "pet": "planted2"])
        let value = try await task.on(server(transport) { $0.redaction = strict }).header("X-Pet", "planted3")
          .download()
        try await transport.finish()
        return value
      }
      _ = try await get("a", over: recording)
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(!written.contains("planted") && written.contains("shown") && written.contains("token=a"))
      let (playing, stub) = try transport(file, .none)
      #expect(try await get("a", over: playing)["pet"] == "<redacted>")
      #expect(await taskError { _ = try await get("b", over: playing) }?.reason.contains("token=b") == true)
      #expect(stub.requests.isEmpty)
    }
  }

  private struct Question: TaskPayload { @Redacted var replayAnswer: String }
  private struct GetQuestion: GET<Question> { var path: String { "question" } }

  @Test func `hides a payload's redacted values even in the first recording`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .once, .json(#"{"replayAnswer":"planted"}"#))
      #expect(try await server(recording).send(GetQuestion()).replayAnswer == "planted")
      try await recording.finish()
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(!written.contains("planted") && written.contains("replayAnswer"))
    }
  }

  private struct Answer: TaskPayload { @Redacted var lateReplayAnswer: String }
  private struct PutAnswer: PayloadDownloadingTask {
    typealias DownloadPayload = Answer
    var httpMethod: HTTPMethod { .put }
    var path: String { "answer" }
    var query: HTTPQuery { ["lateReplayAnswer": "planted in the query"] }
    var headers: HTTPHeaders { ["lateReplayAnswer": "planted in a field"] }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .bytes(Data(#"{"lateReplayAnswer":"planted in the request"}"#.utf8), type: .json)
    }
  }

  @Test(arguments: ["application/json", nil])
  func `hides redacted values in all parts of the first recording, and in bodies without a type`(
    type: String?
  ) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let body = Data(#"{"lateReplayAnswer":"planted in the response"}"#.utf8)
      let stub = StubTransport { request in
        var headers: HTTPHeaders = ["lateReplayAnswer": "planted in a response field"]
        if let type { headers[.contentType] = type }
        return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(body))
      }
      let recording = try ReplayTransport(
        from: file, options: ReplayOptions(recording: .once), over: stub, log: .discard)
      #expect(try await server(recording).send(PutAnswer()).lateReplayAnswer == "planted in the response")
      try await recording.finish()
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(!written.contains("planted") && written.contains("lateReplayAnswer"), "\(written)")
    }
  }

  @Test func `matches a value that the recording hides, because this process may not know its name yet`() async throws {
    let text = #"""
      {"log":{"entries":[{"request":{"method":"PUT","url":"https://shop.test/me?b=1&unknownName=<redacted>&a=2",
      "headers":[{"name":"X-Unknown","value":"<redacted>"}],
      "postData":{"mimeType":"application/json","text":"{\"id\":7,\"unknownName\":\"<redacted>\"}"}},
      "response":{"status":204}}]}}
      """#
    func status(_ query: String, _ id: Int) async throws -> HTTPStatus {
      var options = ReplayOptions()
      options.matching = [.method, .url, .body, .header("X-Unknown")]
      let transport = ReplayTransport(try HTTPArchive(data: Data(text.utf8)), options: options)
      let request = HTTPRequest(
        .put, .known("https://shop.test/me?\(query)"), headers: ["X-Unknown": "monday"],
        body: .bytes(Data(#"{"id":\#(id),"unknownName":"monday"}"#.utf8), type: .json))
      return try await transport.send(request).status
    }
    #expect(try await status("a=2&b=1&unknownName=monday", 7) == 204)
    for (query, id) in [("a=2&b=1&unknownName=monday", 8), ("a=2&b=1", 7), ("a=2&b=2&unknownName=monday", 7)] {
      #expect(await taskError { _ = try await status(query, id) }?.code == .notRecorded, "\(query)")
    }
  }

  @Test func `matches a request even if a parameter became secret after the recording`() async throws {
    let request = HTTPRequest(.get, .known("https://shop.test/me?lateAnswerOfThisTest=42"))
    let text =
      #"{"log":{"entries":[{"request":{"method":"GET","url":"\#(request.url)"},"response":{"status":204}}]}}"#
    let transport = ReplayTransport(try HTTPArchive(data: Data(text.utf8)))
    struct Payload: TaskPayload {
      @Redacted var lateAnswerOfThisTest: Int
    }
    _ = try JSONDecoder().decode(Payload.self, from: Data(#"{"lateAnswerOfThisTest":1}"#.utf8))
    #expect(try await transport.send(request).status == 204)
  }

  @Test func `hides a header that authenticates the request, regardless of its name`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .once, .status(.ok))
      var options = TransferOptions()
      options.credentialHeaders = ["X-Pet"]
      let request = HTTPRequest(
        .get, .known("https://shop.test/plain"), headers: ["X-Pet": "planted", "X-Other": "shown"], options: options)
      _ = try await recording.send(request).body.collect()
      try await recording.finish()
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("planted") && text.contains("shown"))
    }
  }

  @Test func `a replay does not change the app's cookies`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .once, .status(.ok, [.setCookie: "sid=recorded"]))
      try await PlainTask().on(server(recording)).run()
      try await recording.finish()
      let jar = CookieJar()
      let live = StubServer(.status(.ok, [.setCookie: "sid=live"])) { $0.cookiePolicy = .shared(jar) }
      try await PlainTask().on(live.server).run()
      let (playing, _) = try transport(file, .none)
      let replayed = live.server.replaying(playing)
      try await PlainTask().on(replayed).run()
      #expect(jar.cookies.map(\.value) == ["live"] && replayed.cookieJar?.cookies.count == 1)
    }
  }

  @Test func `a replay that needs a hidden value throws an error that names the setting`() async throws {
    struct Session: TaskPayload { let sessionID: UUID }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let task = Endpoint<Void, Session>.get("me")
      let (recording, _) = try transport(file, .once, .json(#"{"sessionID":"\#(UUID().uuidString)"}"#))
      _ = try await task.on(server(recording)).download()
      try await recording.finish()
      let (playing, _) = try transport(file, .once)
      let error = try #require(await taskError { _ = try await task.on(server(playing)).download() })
      #expect(
        error.code == .decodingFailed && error.reason.contains("at sessionID: the value is invalid: recorded"))
      #expect(error.reason.contains("ReplayOptions.redaction"))
      let (live, _) = try transport(folder.appendingPathComponent("b.har"), .once, .json(#"{"sessionID":"x"}"#))
      let other = try #require(await taskError { _ = try await task.on(server(live)).download() })
      #expect(other.reason.hasSuffix("at sessionID: the value is invalid"))
    }
  }

  /// Responses with names that only look secret.
  @Test(arguments: [
    #"{"errors":[{"code":"NAME_UNKNOWN"}]}"#, #"{"country":{"code":"DE"},"sessionCount":3}"#,
    #"{"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#, #"{"items":[],"nextPageToken":"a1b2"}"#,
    #"{"key":"PROJ-1","fields":{"tokenizer":"bert-2","passwordHint":"a pet","hasPassword":true}}"#,
    #"{"token_type":"Bearer","expires_in":3600,"authorization_endpoint":"https://id.test/a","secretary":"Ann"}"#,
  ]) func `a response without secrets replays unchanged`(json: String) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .once, .json(json))
      let task = Endpoint<Void, JSONValue>.get("me")
      let first = try await task.on(server(recording)).download()
      try await recording.finish()
      let (playing, stub) = try transport(file, .once)
      #expect(try await task.on(server(playing)).download() == first && stub.requests.isEmpty)
    }
  }

  private struct Account: TaskPayload {
    struct Token: TaskPayload { let value: String, days: Double, scopes: [String], isOld: Bool, next: String? }
    let password: Int
    let tokens: [Token]
    let credential: Token
    let secret: String
  }

  @Test func `a replayed response has placeholders that decode for secrets of every type`() async throws {
    let token = #"{"value":"planted1","days":271.5,"scopes":["planted2"],"isOld":true,"next":null}"#
    let json = #"{"password":271828,"tokens":[\#(token)],"credential":\#(token),"secret":"planted3"}"#
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .once, .json(json))
      let task = Endpoint<Void, Account>.get("me")
      #expect(try await task.on(server(recording)).download().password == 271_828)
      try await recording.finish()
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("planted") && !text.contains("271"))
      let (playing, _) = try transport(file, .once)
      let account = try await task.on(server(playing)).download()
      #expect(account.password == 0 && account.secret == Redaction.mark && account.tokens.count == 1)
      #expect(account.credential.days == 0 && account.credential.isOld && account.credential.next == nil)
      #expect(account.credential.scopes == [Redaction.mark] && account.credential.value == Redaction.mark)
    }
  }

  @Test func `records only the visible parts of a task and records nothing if its URL is hidden`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let lines = Shared<[String]>([])
      let (recording, stub) = try transport(
        file, .missing, .json(#"{"id":1,"name":"planted1"}"#),
        log: LogOutput { line in lines.withLock { $0.append(line) } })
      let shop = server(recording)
      for _ in 0..<2 {
        _ = try await GetWidget(id: 1).on(shop).header("X-A", "planted2").recording(.hidden).download()
      }
      let post = URLTask(
        .known("https://shop.test/shown"), method: .post, headers: ["X-A": "planted3"], body: .text("planted4"))
      _ = try await post.on(shop).recording([.url]).download()
      try await recording.finish()
      #expect(stub.requests.count == 3 && lines.withLock { $0 }.count { $0.contains("their task hides the URL") } == 1)
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(!written.contains("planted") && !written.contains("widgets") && written.contains("/shown"))
      let (playing, _) = try transport(file, .none)
      let error = await taskError { _ = try await post.on(server(playing)).download() }
      #expect(error?.reason.contains("the task hides the body") == true, "\(error as Any)")
    }
  }

  /// Sends its own request instead of the call's.
  private struct Anew: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(request.method, request.url))
    }
  }

  @Test func `hides a request made by a step if its task is hidden`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, stub) = try transport(file, .missing, .json(#"{"id":1,"name":"planted1"}"#))
      let shop = server(recording)
      await shop.update { $0.perAttemptSteps = [Anew()] }
      _ = try await GetWidget(id: 1).on(shop).recording(.hidden).download()
      _ = try await GetWidget(id: 2).on(shop).download()
      try await recording.finish()
      #expect(stub.requests.count == 2)
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(written.contains("widgets/2") && !written.contains("widgets/1"))
    }
  }

  @Test func `the mode .missing records an entry without a body again and keeps the order of entries`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let calls = try await recordedCalls(.widget, .data(Data([0, 1, 2, 255]), .octetStream), .widget) { server in
        for path in ["a", "b", "c"] { try await PlainTask(path: path).on(server).run() }
      }
      try HTTPArchive(calls).write(to: file)
      let (strict, _) = try transport(file, .none)
      #expect(await taskError { try await PlainTask(path: "b").on(server(strict)).run() }?.code == .notRecorded)
      let (recording, stub) = try transport(file, .missing, .json("{}"))
      for path in ["a", "b", "c", "b"] { try await PlainTask(path: path).on(server(recording)).run() }
      try await recording.finish()
      #expect(stub.requests.map(\.url.path) == ["/b", "/b"])
      let entries = try HTTPArchive(data: Data(contentsOf: file)).entries
      #expect(entries.map { String($0.request.url.suffix(1)) } == ["a", "b", "c"])
      let (again, none) = try transport(file, .missing)
      for path in ["c", "b", "a"] { try await PlainTask(path: path).on(server(again)).run() }
      #expect(none.requests.isEmpty && again.unplayed.isEmpty)
    }
  }

  @Test func `writes a growing recording in batches`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (recording, _) = try transport(file, .all, .json(#"{"id":7,"name":"Sprocket"}"#))
      let shop = server(recording)
      let inodes = Shared<Set<UInt64>>([])
      for id in 0..<300 {
        _ = try await GetWidget(id: id).on(shop).download()
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)  // The file might not exist yet.
        if let inode = attributes?[.systemFileNumber] as? NSNumber {
          _ = inodes.withLock { $0.insert(inode.uint64Value) }
        }
      }
      #expect(inodes.withLock { $0.count } < 100)
      // The file is written even without a call to `finish()`.
      #expect(await eventually { (try? HTTPArchive(data: Data(contentsOf: file)).entries.count) == 300 })
      let urls = try HTTPArchive(data: Data(contentsOf: file)).entries.map(\.request.url)
      #expect(urls == (0..<300).map { "https://shop.test/widgets/\($0)" })
      #expect(try files(in: folder) == ["shop.har"])
    }
  }

  @Test func `a spool sorts entries by number and keeps the last entry with each number`() async throws {
    try await withFolder { folder in
      let calls = try await recordedCalls(.widget) { server in
        for id in 0..<4 { _ = try await GetWidget(id: id).on(server).download() }
      }
      var archive = HTTPArchive(calls)
      archive.comment = #"with "entries":[] in it"#
      let entries = archive.entries
      var spool = try ReplaySpool(Array(entries.prefix(1)), in: folder)
      for (entry, number) in [(3, 3), (1, 1), (0, 2), (2, 2)] { try spool.put(entries[entry], number, nil) }
      let file = folder.appendingPathComponent("a.har")
      try spool.write(archive, to: file)
      let read = try HTTPArchive(data: Data(contentsOf: file))
      #expect(read.entries == HTTPArchive(calls).entries && read.comment == archive.comment)
    }
  }
}
