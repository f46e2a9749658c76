import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct ReplayTests {
  /// Creates a server that replays these calls on a clock that advances automatically.
  private func server(playing transport: ReplayTransport) -> Server {
    Server(
      "https://shop.test", transport: transport,
      manager: TaskManager(clock: CallClock(ManualClock(.autoAdvancing))), environment: [:])
  }

  @Test func `replays a response without sending a request`() async throws {
    let answer = StubLog.Answer.json(#"{"id":7,"name":"Sprocket"}"#)
    let calls = try await recordedCalls(answer) { _ = try await GetWidget().on($0).download() }
    let transport = ReplayTransport(calls)
    #expect(transport.unplayed.count == 1 && transport.checksAddresses)
    let response = try await GetWidget().on(server(playing: transport)).response()
    #expect(response.payload == Widget() && response.response.headers[.contentType] == "application/json")
    #expect(transport.unplayed.isEmpty)
  }

  @Test func `replays a HEAD response of unknown size`() async throws {
    let request = #"{"method":"HEAD","url":"https://shop.test/a"}"#
    let text = #"{"log":{"entries":[{"request":\#(request),"response":{"status":200}}]}}"#
    let shop = server(playing: ReplayTransport(try HTTPArchive(data: Data(text.utf8))))
    #expect(try await Endpoint<Void, Data>.request(.head, "a").on(shop).download().isEmpty)
  }

  @Test func `replays the responses to equal requests in order and then repeats the last response`() async throws {
    let calls = try await recordedCalls(.json(#"{"id":1,"name":"a"}"#), .json(#"{"id":2,"name":"b"}"#)) { server in
      for _ in 0..<2 { _ = try await GetWidget().on(server).download() }
    }
    let shop = server(playing: ReplayTransport(calls))
    var ids: [Int] = []
    for _ in 0..<4 { ids.append(try await GetWidget().on(shop).download().id) }
    #expect(ids == [1, 2, 2, 2])
    var options = ReplayOptions()
    options.whenPlayed = .none
    let transport = ReplayTransport(calls, options: options)
    let strict = server(playing: transport)
    for _ in 0..<2 { _ = try await GetWidget().on(strict).download() }
    let error = try #require(await taskError { _ = try await GetWidget().on(strict).download() })
    #expect(
      error.code == .notRecorded
        && error.reason.contains("all 2 recorded responses to this request have been replayed"),
      "\(error)")
    transport.rewind()
    #expect(try await GetWidget().on(strict).download().id == 1)
  }

  @Test func `an unrecorded request throws an error that describes the nearest request`() async throws {
    let calls = try await recordedCalls(.status(.ok)) { server in
      for page in 1...2 { try await PlainTask(path: "list", query: ["page": "\(page)"]).on(server).run() }
      try await PlainTask(path: "other").on(server).run()
    }
    let shop = server(playing: ReplayTransport(calls))
    let error = try #require(
      await taskError { try await PlainTask(path: "list", query: ["page": "20"]).on(shop).run() })
    #expect(
      error.reason
        == "no response was recorded: the nearest request is GET https://shop.test/list?page=2 (2 of 3), which differs in query: 'page=20' instead of 'page=2'",
      "\(error)")
    #expect(error.wasNotSent && error.attempts.count == 1 && error.diagnosis?.name == "notRecorded")
    let empty = server(playing: ReplayTransport(HTTPArchive(entries: [])))
    let other = try #require(await taskError { try await PlainTask().on(empty).run() })
    #expect(other.reason.contains("the recording has no requests"), "\(other)")
  }

  @Test func `compares requests after hiding their secrets and shows no secrets in errors`() async throws {
    func task(_ token: String) -> Modified<URLTask> {
      URLTask(
        .known("https://shop.test/a?token=\(token)"), method: .post, headers: [.contentType: "application/json"],
        body: .text(#"{"password":"\#(token)","a":1}"#)
      ).header("Authorization", "Bearer \(token)")
    }
    let calls = try await recordedCalls(.status(.ok)) { _ = try await task("planted1").on($0).run() }
    var options = ReplayOptions()
    options.matching = [.method, .url, .body, .header("Authorization"), .header("X-A")]
    let shop = server(playing: ReplayTransport(calls, options: options))
    try await task("planted2").on(shop).run()
    let error = try #require(await taskError { try await task("planted3").header("X-A", "b").on(shop).run() })
    #expect(error.code == .notRecorded && !"\(error)".contains("planted"), "\(error)")
    #expect(error.reason.contains("X-A: 'b' instead of ''"), "\(error)")
  }

  @Test func `compares JSON bodies by value and other bodies byte by byte`() async throws {
    func post(_ body: String, _ type: String = "application/json") -> URLTask {
      URLTask(.known("https://shop.test/a"), method: .post, headers: [.contentType: type], body: .text(body))
    }
    let calls = try await recordedCalls(.status(.ok), .status(.created)) { server in
      try await post(#"{"a":1,"b":[2]}"#).on(server).run()
      try await post("plain", "text/plain").on(server).run()
    }
    var options = ReplayOptions()
    options.matching = [.method, .url, .body]
    let shop = server(playing: ReplayTransport(calls, options: options))
    #expect(try await post(#"{ "b": [2], "a": 1 }"#).on(shop).run().status == .ok)
    #expect(try await post("plain", "text/plain").on(shop).run().status == .created)
    let error = await taskError { try await post(#"{"a":2,"b":[2]}"#).on(shop).run() }
    #expect(
      error?.reason.contains(#"body: '{"a":2,"b":[2]}' instead of '{"a":1,"b":[2]}'"#) == true, "\(error as Any)")
    let stream = HTTPBody.stream {
      AsyncStream<Data> {
        $0.yield(Data("plain".utf8)); $0.finish()
      }
    }
    let streamed = URLTask(
      .known("https://shop.test/a"), method: .post, headers: [.contentType: "text/plain"], body: stream)
    #expect(try await streamed.on(shop).run().status == .created, "a streamed body is compared if it can be read again")
    let once = HTTPBody.once(AsyncStream<Data> { $0.finish() })
    let refusal = await taskError {
      try await URLTask(.known("https://shop.test/a"), method: .post, body: once).on(shop).run()
    }
    #expect(refusal?.reason.contains("body: it can be read only once") == true, "\(refusal as Any)")
  }

  @Test func `with the order .asRecorded, each request must match the next entry`() async throws {
    let calls = try await recordedCalls(.status(.ok)) { server in
      for path in ["a", "b"] { try await PlainTask(path: path).on(server).run() }
    }
    var options = ReplayOptions()
    options.order = .asRecorded
    let shop = server(playing: ReplayTransport(calls, options: options))
    let error = try #require(await taskError { try await PlainTask(path: "b").on(shop).run() })
    #expect(error.reason.contains("the next recorded request is GET https://shop.test/a (1 of 2)"), "\(error)")
    for path in ["a", "b"] { try await PlainTask(path: path).on(shop).run() }
    let end = await taskError { try await PlainTask(path: "b").on(shop).run() }
    #expect(end?.reason == "all 2 recorded requests have been replayed", "\(end as Any)")
  }

  @Test func `replays recorded retries and redirects`() async throws {
    let answers: [StubLog.Answer] = [.lost, .status(503), .status(302, [.location: "/widgets/8"]), .widget]
    let calls = try await recordedCalls(answers[0], answers[1], answers[2], answers[3]) { server in
      _ = try await GetWidget().on(server).retry(upTo: 3, after: .seconds(1)).download()
    }
    let transport = ReplayTransport(calls)
    let task = GetWidget().on(server(playing: transport)).retry(upTo: 3, after: .seconds(1))
    let response = try await task.response()
    #expect(response.payload == Widget() && response.response.redirects.count == 1 && transport.unplayed.isEmpty)
    #expect(response.record.attempts.map(\.status) == [nil, 503, 200], "\(response.record)")
  }

  @Test func `a server or a task with its own settings can replay a recording`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.widget) { $0.recorders = [calls] }
    _ = try await GetWidget().on(stub.server).download()
    let played = stub.server.replaying(.replay(from: calls))
    #expect(played.manager === stub.server.manager)
    #expect(try await Server.withDefault(played) { try await GetWidget().download() } == Widget())
    let transport = ReplayTransport(calls.calls)
    #expect(try await GetWidget().on(stub.server).replay(from: transport).download() == Widget())
    #expect(stub.requests.count == 1 && calls.calls.count == 3)
  }

  @Test func `a task with a replay uses its recording on any server`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.widget) { $0.recorders = [calls] }
    _ = try await GetWidget().on(stub.server).download()
    let task = GetWidget().replay(from: ReplayTransport(calls.calls))
    #expect(try await task.on(stub.server).download() == Widget())
    let others = GetWidget().replay(from: ReplayTransport(calls.calls))
    for await (_, result) in stub.server.results(of: [others], limit: 1) { #expect(try result.get() == Widget()) }
    #expect(stub.requests.count == 1)
  }

  @Test func `replayed failures do not open a circuit`() async throws {
    let calls = try await recordedCalls(.status(503), .status(503)) { server in
      for _ in 0..<2 { _ = try? await PlainTask().on(server).retry(.never).run() }
    }
    let stub = StubServer(.widget) { $0.circuitBreaker = CircuitBreaker(minimumCalls: 1) }
    let played = stub.server.replaying(ReplayTransport(calls))
    for _ in 0..<2 {
      #expect(await taskError { try await PlainTask().on(played).retry(.never).run() }?.status == 503)
    }
    #expect(try await GetWidget().on(stub.server).download() == Widget())
  }

  @Test func `a replay uses neither authentication nor the shared cache`() async throws {
    let (calls, cache) = (RecordedCalls(), MemoryCache())
    let stub = StubServer(.widget) { configuration in
      configuration.recorders = [calls]
      configuration.cache = cache
      configuration.authentication = .bearer("mine")
    }
    _ = try await GetWidget().on(stub.server).download()
    let played = stub.server.replaying(.replay(from: calls))
    let settings = played.configuration
    #expect(settings.authentication.isNone && (settings.cache as? MemoryCache).map { $0 !== cache } == true)
    #expect(try await GetWidget().on(played).download() == Widget())
  }

  @Test func `reports that binary bodies differ without showing their content`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.widget) { $0.recorders = [calls] }
    let address = try #require(URL(string: "https://shop.test/a"))
    let task = URLTask(address, method: .put, body: .bytes(Data("a".utf8), type: .octetStream))
    _ = try await task.on(stub.server).run()
    var options = ReplayOptions()
    options.matching = [.method, .url, .body]
    let transport = ReplayTransport(calls.calls, options: options)
    let other = URLTask(task.url, method: .put, body: .bytes(Data("passphrase hunter2".utf8), type: .octetStream))
    let played = server(playing: transport)
    let error = await #expect(throws: TaskError.self) { try await other.on(played).run() }
    #expect(error?.code == .notRecorded && "\(String(describing: error))".contains("hunter2") == false)
  }

  @Test func `replays status, headers, bytes and trailers`() async throws {
    let archive = HTTPArchive(
      entries: [
        try JSONDecoder().decode(
          HTTPArchive.Entry.self,
          from: Data(
            #"{"request":{"method":"GET","url":"https://shop.test/a"},"response":{"status":203,"headers":[{"name":"X-A","value":"1"},{"name":"X-A","value":"2"},{"name":"Content-Encoding","value":"gzip"}],"content":{"size":4,"mimeType":"application/octet-stream","text":"AAH/Cg==","encoding":"base64"},"_trailers":[{"name":"X-Sum","value":"9"}]}}"#
              .utf8))
      ])
    let data = try archive.data()
    let shop = server(playing: ReplayTransport(try HTTPArchive(data: data)))
    let response = try await PlainTask(path: "a").on(shop).stream()
    #expect(response.status == 203 && response.headers.values(for: "X-A") == ["1", "2"])
    #expect(response.headers[.contentEncoding] == nil)
    #expect(try await response.body.collect() == Data([0, 1, 255, 10]) && response.body.trailers["X-Sum"] == "9")
  }

  @Test func `a body missing from the recording throws an error with the reason`() async throws {
    let calls = try await recordedCalls(.data(Data([0, 1, 2]), "application/x-protobuf")) { server in
      _ = try await PlainTask().on(server).downloadData()
    }
    let shop = server(playing: ReplayTransport(calls))
    let error = try #require(await taskError { _ = try await PlainTask().on(shop).downloadData() })
    #expect(error.code == .notRecorded && error.reason.contains("<3 bytes of application/x-protobuf>"), "\(error)")
  }

  @Test func `does not replay a response that came from the cache`() async throws {
    let calls = try await recordedCalls(.status(.ok, [.cacheControl: "max-age=60"])) { server in
      await server.update { $0.cache = MemoryCache() }
      for _ in 0..<2 { try await PlainTask().on(server).run() }
    }
    #expect(HTTPArchive(calls).entries.count == 2 && ReplayTransport(calls).unplayed.count == 1)
  }
}
