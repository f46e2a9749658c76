import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct HandleTests {
  /// Creates a server that answers when its gate opens, and a counter of its requests.
  private struct GatedShop {
    let gate = PauseGate()
    let asked = Counter()
    let server: Server

    init() {
      let (gate, asked) = (gate, asked)
      gate.close()
      let transport = StubTransport { request in
        asked.add()
        try await gate.pass()
        return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
      }
      server = Server("https://shop.test", transport: transport, environment: [:])
    }
  }

  @Test func `a started task runs without being awaited, and its value can be read repeatedly`() async throws {
    let shop = GatedShop()
    let handle = shop.server.manager.start(GetWidget().on(shop.server))
    await shop.asked.reached(1)
    #expect(handle.state == .running)
    shop.gate.open()
    #expect(try await handle.value == Widget())
    #expect(try await handle.value == Widget())
    #expect(handle.state == .succeeded)
    #expect(shop.asked.count == 1)
  }

  @Test func `cancelAll cancels a started call even before it begins`() async throws {
    for _ in 0..<200 {
      let shop = GatedShop()
      let handle = shop.server.manager.start(GetWidget().on(shop.server))
      #expect(await shop.server.manager.cancelAll() == 1)
      await #expect(throws: CancellationError.self) { try await handle.value }
      #expect(await shop.server.manager.cancelAll() == 0)
    }
  }

  @Test func `a started call can be cancelled by tag, and again after a retry`() async throws {
    let shop = GatedShop()
    let handle = shop.server.manager.start(GetWidget().on(shop.server))
    await shop.asked.reached(1)
    #expect(await shop.server.manager.cancel(tag: "GetWidget") == 1)
    await #expect(throws: CancellationError.self) { try await handle.value }
    #expect(handle.retry())
    await shop.asked.reached(2)
    #expect(await shop.server.manager.cancelAll() == 1)
    await #expect(throws: CancellationError.self) { try await handle.value }
  }

  @Test func `a handle's second run sends the same idempotency key`() async throws {
    struct Order: ServerPOSTTask {
      let path = "orders"
      let idempotency = Idempotency.key
    }
    let stub = StubServer(.lost) { $0.retryPolicy = .never }
    let handle = stub.server.manager.start(Order().on(stub.server))
    await #expect(throws: TaskError.self) { try await handle.value }
    #expect(handle.retry())
    await #expect(throws: TaskError.self) { try await handle.value }
    let other = stub.server.manager.start(Order().on(stub.server))
    await #expect(throws: TaskError.self) { try await other.value }
    let keys = stub.requests.map { $0.headers[.idempotencyKey] }
    #expect(keys.count == 3 && keys[0] != nil && keys[0] == keys[1] && keys[1] != keys[2])
  }

  @Test func `a managed call continues when the handle is released`() async throws {
    let shop = GatedShop()
    let recorder = EventRecorder()
    await shop.server.update { $0.observers = [recorder] }
    shop.server.manager.start(GetWidget().on(shop.server))
    await shop.asked.reached(1)
    shop.gate.open()
    await recorder.balanced()
    #expect(recorder.moments().last == "call succeeded with 200 OK")
  }

  @Test func `a scoped call is cancelled when the handle is released`() async throws {
    let shop = GatedShop()
    let recorder = EventRecorder()
    await shop.server.update { $0.observers = [recorder] }
    for begin in [
      { shop.server.manager.start(GetWidget().on(shop.server), lifetime: .scoped) },
      { shop.server.manager.start(GetWidget().on(shop.server)).scoped },
    ] {
      let before = shop.asked.count
      var handle: TaskHandle? = begin()
      await shop.asked.reached(before + 1)
      #expect(handle?.state == .running)
      handle = nil
      await recorder.balanced()
      #expect(recorder.moments().last == "call cancelled")
    }
  }

  @Test func `a scoped call stays alive while its value is awaited`() async throws {
    let shop = GatedShop()
    let asked = shop.asked
    let gate = shop.gate
    async let opened: Void = {
      await asked.reached(1)
      gate.open()
    }()
    #expect(try await shop.server.manager.start(GetWidget().on(shop.server), lifetime: .scoped).value == Widget())
    await opened
  }

  @Test func `cancelling a handle ends the call with CancellationError`() async throws {
    let shop = GatedShop()
    let handle = shop.server.manager.start(GetWidget().on(shop.server))
    await shop.asked.reached(1)
    handle.cancel()
    await #expect(throws: CancellationError.self) { try await handle.value }
    #expect(handle.state == .cancelled)
    #expect(shop.server.manager.runningCount == 0 && shop.server.manager.callCount == 0)
  }

  @Test func `a manager can cancel started calls by tag and by type`() async throws {
    let shop = GatedShop()
    let manager = shop.server.manager
    let tagged = manager.start(GetWidget().on(shop.server).tagged("shelf"))
    let typed = manager.start(AddWidget().on(shop.server).timeout(.seconds(5)))
    await shop.asked.reached(2)
    #expect(await manager.cancel(tag: "shelf") == 1)
    await #expect(throws: CancellationError.self) { try await tagged.value }
    #expect(tagged.state == .cancelled && typed.state == .running)
    #expect(await manager.cancel(type: GetWidget.self) == 0)
    #expect(await manager.cancel(type: AddWidget.self) == 1)
    await #expect(throws: CancellationError.self) { try await typed.value }
    #expect(typed.state == .cancelled)
  }

  @Test(arguments: [0, 500]) func `cancelling a reader of the value does not cancel the call`(
    later: Int
  ) async throws {
    let shop = GatedShop()
    let handle = shop.server.manager.start(GetWidget().on(shop.server))
    await shop.asked.reached(1)
    let impatient = Task { try await handle.value }
    await giveWay(later)
    impatient.cancel()
    await #expect(throws: CancellationError.self) { try await impatient.value }
    #expect(handle.state == .running)
    shop.gate.open()
    #expect(try await handle.value == Widget())
  }

  @Test func `retry runs a failed call again, but not a successful one`() async throws {
    let stub = StubServer(.status(404), .widget)
    let handle = stub.server.manager.start(GetWidget().on(stub.server))
    let error = await #expect(throws: TaskError.self) { try await handle.value }
    #expect(error?.status == 404 && handle.state == .failed)
    #expect(handle.retry())
    #expect(try await handle.value == Widget())
    #expect(handle.state == .succeeded)
    #expect(!handle.retry())
    #expect(stub.requests.count == 2)
  }

  @Test func `a cancelled call can be retried and cancelled again`() async throws {
    let shop = GatedShop()
    let handle = shop.server.manager.start(GetWidget().on(shop.server))
    #expect(!handle.retry(), "a running call can't be retried")
    await shop.asked.reached(1)
    handle.cancel()
    _ = try? await handle.value
    #expect(handle.retry())
    handle.cancel()
    await #expect(throws: CancellationError.self) { try await handle.value }
    #expect(handle.retry())
    shop.gate.open()
    #expect(try await handle.value == Widget())
  }

  @Test func `a retry uses the server that was the default when the call started`() async throws {
    let stub = StubServer(.status(404), .widget)
    let handle = await Server.withDefault(stub.server) { stub.server.manager.start(GetWidget()) }
    _ = try? await handle.value
    handle.retry()
    #expect(try await handle.value == Widget())
    #expect(stub.urls == ["https://shop.test/widgets/7", "https://shop.test/widgets/7"])
  }

  @Test func `events replay from the start for every reader and end with the call`() async throws {
    let stub = StubServer(.status(503), .widget)
    let handle = stub.server.manager.start(GetWidget().on(stub.server))
    var early: [String] = []
    for await event in handle.events { early.append(event.moment.description) }
    #expect(handle.state == .succeeded)
    _ = try await handle.value
    var late: [String] = []
    for await event in handle.events { late.append(event.moment.description) }
    #expect(early == late)
    #expect(early.first == "call started" && early.last == "call succeeded with 200 OK")
    #expect(early.contains { $0.hasPrefix("waiting") })
  }

  @Test func `a late reader receives the final event even if events were dropped`() async throws {
    let shop = VirtualShop(budget: .unlimited) { _, request, _ in .status(503, for: request) }
    let handle = shop.manager.start(GetWidget().on(shop.server).retry(upTo: 400, after: .zero))
    _ = try? await handle.value
    var late: [String] = []
    for await event in handle.events { late.append(event.moment.description) }
    #expect(shop.sentCount == 401 && late.count == 1000)
    #expect(late.first == "call started" && late.last?.hasPrefix("call failed") == true, "\(late.last ?? "")")
  }

  /// Creates a server that answers with 100,000 bytes in chunks of 100 bytes, one per millisecond.
  private func slowServer(_ clock: ManualClock) -> Server {
    final class Pieces: HTTPBodySource {
      let clock: ManualClock
      let left = Shared(1000)

      init(clock: ManualClock) { self.clock = clock }

      func next() async throws -> Data? {
        clock.advance(by: .milliseconds(1))
        return left.withLock { left in
          left -= 1
          return left < 0 ? nil : Data(count: 100)
        }
      }
    }
    let transport = StubTransport { request in
      HTTPResponse(
        url: request.url, headers: [.contentLength: "100000"], body: HTTPResponseBody(Pieces(clock: clock)))
    }
    return Server(
      "https://shop.test", transport: transport, manager: TaskManager(clock: CallClock(clock)), environment: [:]
    )
  }

  @Test func `reports progress at most 20 times a second and at the end`() async throws {
    let clock = ManualClock()
    let server = slowServer(clock)
    let reported = Shared<[TransferProgress]>([])
    let handle = server.manager.start(
      PlainTask().on(server).progress { progress in reported.withLock { $0.append(progress) } })
    _ = try await handle.value
    let all = reported.withLock { $0 }
    #expect(all.count <= 22 && all.count > 15 && all.map(\.completed) == all.map(\.completed).sorted())
    let half = try #require(all.first { $0.fraction ?? 0 >= 0.5 })
    // 100 bytes per millisecond.
    #expect(abs((half.rate ?? 0) - 100_000) < 5_000 && half.remaining.map { $0 <= .seconds(0.6) } == true)
    // A late reader receives only the final progress.
    var late: [TransferProgress] = []
    for await progress in handle.progress { late.append(progress) }
    #expect(late == [all.last] && late.first?.isFinished == true && late.first?.completed == 100_000)
  }

  @Test func `the progress sequence ends with the call, even if the call fails`()
    async throws
  {
    let shop = GatedShop()
    let handle = shop.server.manager.start(AddWidget().on(shop.server))
    let watched = Task {
      var all: [TransferProgress] = []
      for await progress in handle.progress { all.append(progress) }
      return all
    }
    await shop.asked.reached(1)
    shop.gate.open()
    _ = try await handle.value
    let all = await watched.value
    #expect(all.last?.isFinished == true && all.last?.direction == .down && all.last?.attempt == 1)
    let stub = StubServer(.refused)
    let failing = stub.server.manager.start(GetWidget().retry(.never).on(stub.server))
    var none = 0
    for await _ in failing.progress { none += 1 }
    #expect(none == 0 && failing.state == .failed)
    #expect(failing.retry())
    for await _ in failing.progress { none += 1 }
    #expect(none == 0)
  }

  @Test func `a small in-memory body is sent without a stream`() async throws {
    let stub = StubServer(.widget)
    let handle = stub.server.manager.start(AddWidget().on(stub.server))
    _ = try await handle.value
    #expect(stub.requests.first?.body.data != nil)
  }

  @Test func `the value of a handle is the response, or the file for a file download`() async throws {
    let stub = StubServer(.json("{}"))
    #expect(try await stub.server.manager.start(PlainTask().on(stub.server)).value.status == .ok)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("plain.json")
      let response = try await stub.server.manager.start(PlainTask().on(stub.server), downloadingTo: file).value
      #expect(response.payload == file)
      #expect(try Data(contentsOf: file) == Data("{}".utf8))
    }
  }
}
