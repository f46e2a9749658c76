import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct HandlePauseTests {
  /// A body that counts the chunks read and waits after the first one.
  private final class CountedSource: HTTPBodySource {
    let taken = Counter()
    private let chunks: Int
    private let afterFirst: @Sendable () async -> Void
    private let isCancelled = Shared(false)

    init(chunks: Int, afterFirst: @escaping @Sendable () async -> Void) {
      self.chunks = chunks
      self.afterFirst = afterFirst
    }

    func next() async throws -> Data? {
      try Task.checkCancellation()
      guard taken.count < chunks else { return nil }
      taken.add()
      if taken.count == 1 { await afterFirst() }
      return Data("x".utf8)
    }
  }

  @Test func `a paused call does not make another attempt until it is resumed`() async throws {
    let clock = ManualClock()
    let asked = Counter()
    let transport = StubTransport { request in
      asked.add()
      return asked.count == 1 ? .status(503, for: request) : .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    let built = Counter()
    let server = Server(
      "https://shop.test", transport: transport, manager: TaskManager(clock: CallClock(clock)), environment: [:]
    )
    await server.update { $0.preflight = { _, _ in built.add() } }
    let handle = server.manager.start(GetWidget().on(server).retry(upTo: 1, after: .seconds(2)))
    await clock.sleepers(count: 1)
    #expect(handle.state == .waiting)
    #expect(handle.pause() && !handle.pause())
    clock.advance(by: .seconds(2))
    await giveWay(50)
    #expect(handle.state == .paused && asked.count == 1)
    #expect(built.count == 1, "a request is built only when it is sent")
    #expect(handle.resume() && !handle.resume())
    #expect(try await handle.value == Widget())
    #expect(asked.count == 2 && built.count == 2)
  }

  @Test func `a paused call resumes when its last handle is released`() async throws {
    let stub = StubServer(.widget)
    let gate = Gate()
    struct Late: ServerGETTask {
      let gate: Gate
      func willStart() async { await gate.wait() }
    }
    var handle: TaskHandle<HTTPResponse>? = stub.server.manager.start(Late(gate: gate).on(stub.server))
    handle?.pause()
    gate.open()
    await giveWay(50)
    #expect(stub.requests.isEmpty)
    handle = nil
    #expect(await eventually { stub.requests.count == 1 && stub.server.manager.callCount == 0 })
  }

  @Test func `a call paused before it begins sends nothing`() async throws {
    let stub = StubServer(.widget)
    let gate = Gate()
    await stub.server.update { $0.computedHeaders = { _ in [:] } }
    struct Late: ServerGETTask {
      let gate: Gate
      func willStart() async { await gate.wait() }
    }
    let handle = stub.server.manager.start(Late(gate: gate).on(stub.server))
    handle.pause()
    gate.open()
    await giveWay(50)
    #expect(stub.requests.isEmpty && handle.state == .paused)
    handle.resume()
    #expect(try await handle.value.status == .ok)
  }

  @Test func `a paused call does not read its body but keeps its slot`() async throws {
    let (reached, gate) = (Gate(), Gate())
    let source = CountedSource(chunks: 5) {
      reached.open()
      await gate.wait()
    }
    let transport = StubTransport { HTTPResponse(url: $0.url, body: HTTPResponseBody(source)) }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    try await withFolder { folder in
      let file = folder.appendingPathComponent("body")
      let handle = server.manager.start(PlainTask().on(server), downloadingTo: file)
      await reached.wait()
      handle.pause()
      gate.open()
      await giveWay(50)
      #expect(source.taken.count == 1 && server.manager.runningCount == 1)
      #expect(!FileManager.default.fileExists(atPath: file.path))
      handle.resume()
      _ = try await handle.value
      #expect(try Data(contentsOf: file).count == 5)
      #expect(server.manager.runningCount == 0)
    }
  }

  @Test func `a paused call can be cancelled while it reads its body`() async throws {
    let (reached, gate) = (Gate(), Gate())
    let source = CountedSource(chunks: 5) {
      reached.open()
      await gate.wait()
    }
    let transport = StubTransport { HTTPResponse(url: $0.url, body: HTTPResponseBody(source)) }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let handle = server.manager.start(PlainTask().on(server))
    await reached.wait()
    handle.pause()
    gate.open()
    handle.cancel()
    await #expect(throws: CancellationError.self) { try await handle.value }
    #expect(handle.state == .cancelled && server.manager.runningCount == 0 && server.manager.callCount == 0)
  }

  @Test func `the deadline of a paused call keeps running`() async throws {
    let clock = ManualClock()
    let stub = StubTransport { .status(503, for: $0) }
    let server = Server(
      "https://shop.test", transport: stub, manager: TaskManager(clock: CallClock(clock)), environment: [:])
    let task = GetWidget().on(server).retry(upTo: 9, after: .seconds(1)).deadline(.seconds(9))
    let handle = server.manager.start(task)
    await clock.sleepers(count: 2)
    handle.pause()
    clock.advance(by: .seconds(9))
    let error = await #expect(throws: TaskError.self) { try await handle.value }
    #expect(error?.timer == .call && handle.state == .failed)
  }

  @Test func `a paused call is not hedged, and resuming restarts the hedging delay`() async throws {
    let (clock, asked) = (ManualClock(), Counter())
    let transport = StubTransport { request in
      asked.add()
      if asked.count == 1 { try await CallClock(clock).sleep(for: .seconds(100)) }
      return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    let server = Server(
      "https://shop.test", transport: transport, manager: TaskManager(clock: CallClock(clock)), environment: [:]
    )
    let handle = server.manager.start(GetWidget().on(server).hedged(after: .seconds(2)))
    await clock.sleepers(count: 2)
    handle.pause()
    clock.advance(by: .seconds(2))
    await giveWay(50)
    #expect(asked.count == 1 && clock.sleeperCount == 1)
    handle.resume()
    await clock.sleepers(count: 2)
    clock.advance(by: .milliseconds(1999))
    await giveWay(50)
    #expect(asked.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await handle.value == Widget() && asked.count == 2)
  }
}
