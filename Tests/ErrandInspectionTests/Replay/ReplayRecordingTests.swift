import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct ReplayRecordingTests {
  private func server(_ transport: ReplayTransport) -> Server {
    Server(
      "https://shop.test", transport: transport,
      manager: TaskManager(clock: CallClock(ManualClock(.autoAdvancing))), environment: [:])
  }

  /// Creates a transport that records the responses of this stub.
  private func transport(
    _ file: URL, _ recording: ReplayRecording, _ stub: StubLog, log: LogOutput = .discard,
    configure: (inout ReplayOptions) -> Void = { _ in }
  ) throws -> ReplayTransport {
    var options = ReplayOptions(recording: recording)
    configure(&options)
    return try ReplayTransport(
      from: file, options: options, over: StubTransport { try stub.answer($0) }, log: log)
  }

  @Test func `reports a recording that another transport has not finished`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      func missing() throws -> String {
        try #require(#expect(throws: TaskError.self) { try ReplayTransport(from: file) }).reason
      }
      #expect(try missing().hasSuffix("create one with recording: .once"))
      do {
        let recording = try transport(file, .once, StubLog([]))
        #expect(
          try missing().hasSuffix(
            "another ReplayTransport in this process is still recording it: make its first call, then await finish() on it"
          ))
        withExtendedLifetime(recording) {}
      }
      #expect(try missing().hasSuffix("create one with recording: .once"))
    }
  }

  private static func known(_ id: Int) -> StubLog.Answer { .json(#"{"id":\#(id),"name":"w"}"#) }

  /// Returns the IDs of the widgets, or `nil` for each widget that was not recorded.
  private func ids(_ wanted: [Int], over transport: ReplayTransport) async throws -> [Int?] {
    let shop = server(transport)
    var ids: [Int?] = []
    for id in wanted {
      do {
        ids.append(try await GetWidget(id: id).on(shop).download().id)
      } catch TaskError.Code.notRecorded {
        ids.append(nil)
      }
    }
    try await transport.finish()
    return ids
  }

  @Test func `the mode .once records if the file is missing and otherwise only replays`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("fixtures/shop.har")
      let stub = StubLog([Self.known(1), Self.known(2), Self.known(9)])
      let first = try await ids([7, 7], over: transport(file, .once, stub))
      #expect(first == [1, 2])
      #expect(try await ids([7, 7, 7, 8], over: transport(file, .once, stub)) == [1, 2, 2, nil])
      #expect(stub.requests.count == 2)
      func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
      }
      #expect(try mode(file) == 0o600 && mode(file.deletingLastPathComponent()) == 0o700)
      #expect(try files(in: file.deletingLastPathComponent()) == ["shop.har"])
    }
  }

  @Test func `the mode .missing adds new requests to the file`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      #expect(try await ids([7], over: transport(file, .missing, StubLog([Self.known(1)]))) == [1])
      let stub = StubLog([Self.known(8)])
      #expect(try await ids([7, 8, 7], over: transport(file, .missing, stub)) == [1, 8, 1])
      #expect(stub.requests.map(\.url.path) == ["/widgets/8"])
      #expect(try await ids([8, 7], over: transport(file, .none, stub)) == [8, 1] && stub.requests.count == 1)
      let again = StubLog([Self.known(3)])
      let strict = try transport(file, .missing, again) { $0.whenPlayed = .none }
      #expect(try await ids([7, 7], over: strict) == [1, 3])
      #expect(try await ids([7, 7], over: transport(file, .none, again)) == [1, 3])
    }
  }

  @Test func `the mode .all replays nothing and replaces the file`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let first = try await ids([7, 8], over: transport(file, .all, StubLog([Self.known(1)])))
      #expect(first == [1, 1])
      #expect(try await ids([7], over: transport(file, .all, StubLog([Self.known(5)]))) == [5])
      #expect(try await ids([7, 8], over: transport(file, .none, StubLog([]))) == [5, nil])
    }
  }

  @Test func `the mode .none never uses the network and fails immediately if the file is missing`() async throws {
    try await withFolder { folder in
      let (file, stub) = (folder.appendingPathComponent("shop.har"), StubLog([.widget]))
      let error = await taskError { _ = try transport(file, .none, stub) }
      #expect(error?.code == .notRecorded && error?.reason.contains("recording: .once") == true, "\(error as Any)")
      let late = await taskError { _ = try await GetWidget().on(StubServer().server).replay(from: file).download() }
      #expect(late?.code == .notRecorded && late?.reason == error?.reason, "\(late as Any)")
      try Data("no archive".utf8).write(to: file)
      for recording in [ReplayRecording.none, .once, .missing] {
        #expect(await taskError { _ = try transport(file, recording, stub) }?.reason.contains("cannot be read") == true)
      }
      #expect(stub.requests.isEmpty)
      #expect(try Data(contentsOf: file) == Data("no archive".utf8))
    }
  }

  @Test func `does not record a broken error body and marks an unread error body as incomplete`() async throws {
    final class Pieces: HTTPBodySource {
      let count = Counter()
      let breaks: Bool
      init(breaks: Bool) { self.breaks = breaks }
      func next() async throws -> Data? {
        count.add()
        if count.count > 1, breaks { throw TaskError(.connectionLost, "gone", phase: .receiving) }
        return Data("piece".utf8)
      }
      func cancel() {}
    }
    for breaks in [true, false] {
      try await withFolder { folder in
        let file = folder.appendingPathComponent("shop.har")
        let live = StubTransport { request in
          HTTPResponse(
            503, url: request.url, headers: [.contentType: "text/plain"], body: HTTPResponseBody(Pieces(breaks: breaks))
          )
        }
        let transport = try ReplayTransport(
          from: file, options: ReplayOptions(recording: .all), over: live, log: .discard)
        let response = try await transport.send(HTTPRequest(.get, .known("https://shop.test/plain")))
        _ = try await response.body.next()
        if breaks { _ = try? await response.body.next() }
        response.body.cancel()
        try await transport.finish()
        let entries = (try? HTTPArchive(data: Data(contentsOf: file)).entries) ?? []
        #expect(entries.map(\.response.content.size) == (breaks ? [] : [-1]))
        #expect(entries.map(\.response.content.text) == (breaks ? [] : ["piece"]))
      }
    }
  }

  @Test func `records a large error body as too large if it is not read to its end`() async throws {
    final class Large: HTTPBodySource {
      func next() async throws -> Data? { Data(count: 100) }
      func cancel() {}
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      var options = ReplayOptions(recording: .all)
      options.maximumBodySize = 150
      let live = StubTransport { HTTPResponse(503, url: $0.url, body: HTTPResponseBody(Large())) }
      let transport = try ReplayTransport(from: file, options: options, over: live, log: .discard)
      let response = try await transport.send(HTTPRequest(.get, .known("https://shop.test/plain")))
      for _ in 0..<2 { _ = try await response.body.next() }
      response.body.cancel()
      try await transport.finish()
      let content = try HTTPArchive(data: Data(contentsOf: file)).entries.map(\.response.content)
      #expect(
        content.map(\.text) == [nil] && content.map(\.comment) == ["<200 bytes, over the limit of 150>"])
    }
  }

  @Test func `does not write secrets and matches requests despite hidden values`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let stub = StubLog([.json(#"{"access_token":"planted1","id":7}"#)])
      func get(_ token: String, _ transport: ReplayTransport) async throws -> JSONValue {
        let task = Endpoint<Void, JSONValue>.get("me", query: ["token": token])
        return try await task.on(server(transport)).header("Authorization", token).download()
      }
      let recording = try transport(file, .once, stub)
      let live = try await get("planted2", recording)
      #expect(live["access_token"] == "planted1", "the app receives the unredacted response")
      try await recording.finish()
      let written = try String(contentsOf: file, encoding: .utf8)
      #expect(!written.contains("planted"))
      let played = try await get("planted3", transport(file, .none, stub))
      #expect(played["access_token"] == "<redacted>" && played["id"] == 7)
    }
  }

  @Test func `records only binary bodies of the listed types and logs omitted bodies`() async throws {
    try await withFolder { folder in
      let (file, lines) = (folder.appendingPathComponent("shop.har"), Shared<[String]>([]))
      let bytes = Data((0...255).map { UInt8($0) })
      let log = LogOutput { line in lines.withLock { $0.append(line) } }
      func get(_ transport: ReplayTransport) async throws -> Data {
        let data = try await PlainTask().on(server(transport)).downloadData()
        try await transport.finish()
        return data
      }
      let answer = StubLog.Answer.data(bytes, "application/x-protobuf")
      #expect(try await get(transport(file, .all, StubLog([answer]), log: log)) == bytes)
      #expect(lines.withLock { $0 }.first?.contains("<256 bytes of application/x-protobuf>") == true)
      #expect(await taskError { _ = try await get(transport(file, .none, StubLog([]))) }?.code == .notRecorded)
      let keeping = try transport(file, .all, StubLog([answer])) { $0.binaryTypes = ["application/x-protobuf"] }
      #expect(try await get(keeping) == bytes)
      #expect(try await get(transport(file, .none, StubLog([]))) == bytes)
      let small = try transport(file, .all, StubLog([.data(Data("text".utf8), .plainText)])) { $0.maximumBodySize = 3 }
      #expect(try await get(small) == Data("text".utf8))
      let error = await taskError { _ = try await get(transport(file, .none, StubLog([]))) }
      #expect(error?.reason.contains("<4 bytes, over the limit of 3>") == true, "\(error as Any)")
    }
  }

  /// A body that arrives in pieces.
  private final class Pieces: HTTPBodySource {
    private let rest: Shared<[Result<Data, TaskError>]>

    init(_ pieces: [Result<Data, TaskError>]) { rest = Shared(pieces) }

    func next() async throws -> Data? {
      try rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.get()
    }
    var trailers: HTTPHeaders { rest.withLock { $0.isEmpty } ? ["X-Sum": "9"] : [:] }
  }

  @Test func `records a stream and its trailers only if it was read to its end`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      func recording(_ pieces: [Result<Data, TaskError>]) throws -> ReplayTransport {
        try ReplayTransport(
          from: file, options: ReplayOptions(recording: .missing),
          over: StubTransport { request in
            HTTPResponse(
              url: request.url, headers: [.contentType: "text/plain"], body: HTTPResponseBody(Pieces(pieces)))
          }, log: .discard)
      }
      let pieces: [Result<Data, TaskError>] = ["one ", "two"].map { .success(Data($0.utf8)) }
      let broken = try recording([pieces[0], .failure(TaskError(.truncatedBody, "cut", phase: .receiving))])
      _ = await taskError { _ = try await PlainTask().on(server(broken)).retry(.never).downloadData() }
      let left = try recording(pieces)
      var response: HTTPResponse? = try await PlainTask().on(server(left)).stream()
      _ = try await response?.body.next()
      response = nil
      for transport in [broken, left] { try await transport.finish() }
      #expect(try files(in: folder).isEmpty, "neither body was read to its end")
      let whole = try recording(pieces)
      let stream = try await PlainTask().on(server(whole)).stream()
      #expect(try await stream.body.collect() == Data("one two".utf8) && stream.body.trailers["X-Sum"] == "9")
      try await whole.finish()
      let played = try await PlainTask().on(server(.replay(from: file))).stream()
      #expect(try await played.body.collect() == Data("one two".utf8) && played.body.trailers["X-Sum"] == "9")
    }
  }

  @Test func `a call succeeds even if the recording can't be written`() async throws {
    try await withFolder { folder in
      let blocked = folder.appendingPathComponent("blocked")
      try FileManager.default.createDirectory(
        at: blocked.appendingPathComponent("shop.har"), withIntermediateDirectories: true)
      let lines = Shared<[String]>([])
      let transport = try transport(
        blocked.appendingPathComponent("shop.har"), .all, StubLog([.widget]),
        log: LogOutput { line in lines.withLock { $0.append(line) } })
      #expect(try await GetWidget().on(server(transport)).download() == Widget())
      let error = await taskError { try await transport.finish() }
      #expect(error?.code == .fileNotWritable && lines.withLock { $0.count } == 1, "\(error as Any)")
    }
  }

  @Test func `counts the responses lost to a failing disk and logs the failure once`() async throws {
    try await withFolder { folder in
      let place = folder.appendingPathComponent("place")
      try Data().write(to: place)  // A file replaces the folder, so nothing can be spooled.
      let lines = Shared<[String]>([])
      let transport = try transport(
        place.appendingPathComponent("shop.har"), .all, StubLog([.widget]),
        log: LogOutput { line in lines.withLock { $0.append(line) } })
      for _ in 0..<3 { _ = try await GetWidget().on(server(transport)).download() }
      let error = await taskError { try await transport.finish() }
      #expect(error?.code == .fileNotWritable && error?.reason.contains("3 responses are missing from ") == true)
      #expect(lines.withLock { $0.count } == 1)
    }
  }

  @Test func `a cancelled task does not wait for the file`() async throws {
    try await withFolder { folder in
      let transport = try transport(folder.appendingPathComponent("shop.har"), .all, StubLog([.widget]))
      _ = try await GetWidget().on(server(transport)).download()
      let end = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await transport.finish()
      }
      await #expect(throws: CancellationError.self) { try await end.value }
      try await transport.finish()
      #expect(try files(in: folder) == ["shop.har"])
    }
  }

  @Test func `records concurrent requests in the order they were sent`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("shop.har")
      let (gate, started) = (Gate(), Counter())
      let transport = try ReplayTransport(
        from: file, options: ReplayOptions(recording: .once),
        over: StubTransport { request in
          started.add()
          if request.url.path == "/a" { await gate.wait() }
          return .status(.ok, for: request)
        }, log: .discard)
      let shop = server(transport)
      async let slow: HTTPResponse = PlainTask(path: "a").on(shop).run()
      await started.reached(1)
      try await PlainTask(path: "b").on(shop).run()
      gate.open()
      _ = try await slow
      try await transport.finish()
      let urls = try HTTPArchive(data: Data(contentsOf: file)).entries.map(\.request.url)
      #expect(urls == ["https://shop.test/a", "https://shop.test/b"])
    }
  }
}
