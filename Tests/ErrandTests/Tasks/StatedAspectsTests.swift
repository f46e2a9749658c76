import Errand
import ErrandTesting
import Foundation
import Testing

/// Settings declared by a task apply without a modifier.
@Suite(.timeLimit(.minutes(1))) struct StatedAspectsTests {
  /// Encodes every value as the name of its type.
  private struct NameEncoder: BodyEncoder {
    let mediaType: MediaType
    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\(Value.self)".utf8) }
  }

  private struct Inherits: ServerPOSTTask, PayloadUploadingTask { let uploadPayload = Widget() }

  private struct Encodes: ServerPOSTTask, PayloadUploadingTask {
    let uploadPayload = Widget()
    let encoder: any BodyEncoder = NameEncoder(mediaType: "text/x-own")
  }

  @Test func `the task's encoder overrides the server's`() async throws {
    let stub = StubServer(.status(.ok)) { $0.defaultEncoder = NameEncoder(mediaType: "text/x-name") }
    try await Inherits().on(stub.server).upload()
    try await Encodes().on(stub.server).upload()
    #expect(stub.requests.map { $0.body.data } == [Data("Widget".utf8), Data("Widget".utf8)])
    #expect(stub.requests.map { $0.headers[.contentType] } == ["text/x-name", "text/x-own"])
  }

  private struct SameWidget: PayloadDecoder {
    let id: Int
    func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload {
      try JSONDecoder().decode(type, from: Data(#"{"id":\#(id),"name":""}"#.utf8))
    }
  }

  private struct Decodes: PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    let decoder: any PayloadDecoder = SameWidget(id: 2)
  }

  @Test func `the task's or a modifier's decoder overrides the server's`() async throws {
    let stub = StubServer(.widget) { $0.defaultDecoder = SameWidget(id: 1) }
    #expect(try await GetWidget().on(stub.server).download().id == 1)
    #expect(try await Decodes().on(stub.server).download().id == 2)
    #expect(try await GetWidget().on(stub.server).decoder(SameWidget(id: 3)).download().id == 3)
  }

  private struct Retries: ServerGETTask { let retryPolicy = RetryPolicy.fixed(retries: 4, delay: .zero) }

  @Test func `applies the task's retry policy`() async throws {
    let stub = StubServer(.status(503), .status(503), .status(503), .status(503), .status(.ok)) {
      $0.retryPolicy = .never
    }
    #expect(try await Retries().on(stub.server).run().status == .ok)
    #expect(stub.requests.count == 5)
  }

  private struct Repeats: ServerPOSTTask { let idempotency = Idempotency.safeToRepeat }

  @Test func `applies the task's idempotency`() async throws {
    let stub = StubServer(.lost, .status(.ok))
    #expect(try await Repeats().on(stub.server).run().status == .ok)
    #expect(stub.requests.count == 2)
  }

  private struct Accepts: ServerGETTask { let acceptedStatuses = AcceptedStatuses.only(404) }

  @Test func `applies the task's accepted statuses`() async throws {
    let stub = StubServer(.status(404), .status(200))
    #expect(try await Accepts().on(stub.server).run().status == .notFound)
    #expect(await taskError { try await Accepts().on(stub.server).run() }?.status == .ok)
  }

  private struct Hedges: ServerGETTask { let hedging = Hedging.after(.seconds(1)) }

  @Test func `applies the task's hedging`() async throws {
    let shop = VirtualShop { number, request, clock in
      if number == 1 { try await CallClock(clock).sleep(for: .seconds(100)) }
      return .status(.ok, headers: ["X-Number": "\(number)"], for: request)
    }
    let call = Task { try await Hedges().on(shop.server).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(try await call.value.headers["X-Number"] == "2")
  }

  private struct Guarded: ServerGETTask { let addressPolicy = AddressPolicy.publicOnly }

  @Test func `passes the task's address policy to the transport`() async throws {
    let stub = StubServer(.status(.ok))
    try await Guarded().on(stub.server).run()
    try await Guarded().addresses(.any).on(stub.server).run()
    await stub.server.update { $0.addressPolicy = .publicOnly }
    try await GetWidget().on(stub.server).run()
    try await Guarded().addresses(.inherited).on(stub.server).run()
    #expect(stub.requests.map(\.options.addressPolicy.allowsAll) == [false, true, false, false])
  }

  private struct Follows: ServerGETTask { let redirectPolicy = RedirectPolicy.refuse }

  @Test func `applies the task's redirect policy`() async throws {
    let stub = StubServer(.status(302, ["Location": "/b"]))
    #expect(await taskError { try await Follows().on(stub.server).run() }?.status == 302)
    #expect(stub.requests.count == 1)
  }

  private struct Waits: ServerGETTask {
    let path: String
    var priority = CallPriority.normal
    var serialQueue = SerialQueue.none
  }

  @Test func `applies the task's priority`() async throws {
    let (order, gate) = (Shared<[String]>([]), Gate())
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      order.withLock { $0.append(request.url.lastPathComponent) }
      await gate.wait()
      return .ok(request)
    }
    let tasks = [Waits(path: "first"), Waits(path: "second"), Waits(path: "third", priority: .urgent)]
    var calls: [Task<HTTPResponse, any Error>] = []
    for (count, task) in tasks.enumerated() {
      calls.append(Task { try await task.on(shop.server).run() })
      #expect(await eventually { shop.sentCount == 1 && shop.manager.waitingCount == count })
    }
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(order.withLock { $0 } == ["first", "third", "second"])
  }

  @Test func `applies the task's serial queue`() async throws {
    let (begun, gate) = (Counter(), Gate())
    let shop = VirtualShop { _, request, _ in
      begun.add()
      await gate.wait()
      return .ok(request)
    }
    func call(_ queue: SerialQueue) -> Task<HTTPResponse, any Error> {
      Task { try await Waits(path: "x", serialQueue: queue).on(shop.server).run() }
    }
    let first = call(.named("a"))
    await begun.reached(1)
    let calls = [first, call(.named("a")), call(.named("b"))]
    await begun.reached(2)
    await giveWay(50)
    #expect(begun.count == 2, "the second call in queue a has not started")
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(begun.count == 3)
  }

  private struct Limits: ServerGETTask {
    let timeout = Duration.seconds(7)
    let timeouts = Timeouts(attempt: .seconds(3))
  }

  @Test func `applies the task's attempt timeout unless a modifier overrides it`() async throws {
    let stub = StubServer(.status(.ok))
    try await Limits().on(stub.server).run()
    try await Limits().timeout(.seconds(9)).on(stub.server).run()
    #expect(stub.requests.map(\.options.timeouts.attempt) == [.seconds(3), .seconds(9)])
  }

  private struct Marked: ServerPOSTTask, IdempotentTask {}

  @Test func `retries a task that conforms to IdempotentTask`() async throws {
    let stub = StubServer(.lost, .status(.ok))
    #expect(try await Marked().on(stub.server).run().status == .ok)
    #expect(stub.requests.count == 2)
  }

  private struct SendsData: ServerPOSTTask, DataUploadingTask {
    let uploadData = Data("data".utf8)
    var uploadType: MediaType = "text/x-data"
  }

  private struct SendsFile: ServerPOSTTask, FileUploadingTask {
    let uploadFile: URL
    var uploadType: MediaType = "text/x-file"
  }

  private struct SendsPlainData: ServerPOSTTask, DataUploadingTask { let uploadData = Data("data".utf8) }

  @Test func `sends the media type of the task's data or file`() async throws {
    let stub = StubServer(.status(.ok))
    let file = URL.known("file:///tmp/none")
    try await SendsData().on(stub.server).upload()
    try await SendsFile(uploadFile: file).on(stub.server).upload()
    try await SendsPlainData().on(stub.server).upload()
    for type in ["text/x-body", nil] as [MediaType?] {
      try await URLTask(.known("https://shop.test/x"), body: .file(file, type: type)).on(stub.server).run()
    }
    let types = stub.requests.map { $0.headers[.contentType] }
    #expect(types == ["text/x-data", "text/x-file", "application/octet-stream", "text/x-body", nil])
  }

  private struct Checks: ServerGETTask {
    struct Refused: Error {}
    func postProcess(response: HTTPResponse) async throws { throw Refused() }
  }

  @Test func `postProcess can fail a response, in memory or streamed`() async throws {
    let stub = StubServer(.data(Data("abc".utf8), .plainText))
    await #expect(throws: Checks.Refused.self) { try await Checks().on(stub.server).stream() }
    await #expect(throws: Checks.Refused.self) { try await Checks().on(stub.server).downloadData() }
    #expect(stub.server.manager.throttle.streams == 0 && stub.server.manager.callCount == 0)
  }
}
