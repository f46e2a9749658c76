import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct StubTransportTests {
  private struct Widget: TaskPayload, Equatable {
    let id: Int
  }

  private struct GetWidget: GET<Widget> {
    var path: String { "widgets/7" }
  }

  private func shop(_ stub: StubTransport) -> Server {
    Server("https://shop.test", transport: stub, asDefault: false) { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }
  }

  @Test func `returns the same answer for every request`() async throws {
    let stub = StubTransport(.json(#"{"id": 7}"#))
    for _ in 0..<3 { #expect(try await shop(stub).send(GetWidget()) == Widget(id: 7)) }
    #expect(stub.requests.map(\.url.path) == ["/widgets/7", "/widgets/7", "/widgets/7"])
  }

  @Test func `reads the request body and returns HEAD and 204 responses without a body`() async throws {
    let (stub, url) = (StubTransport(.text("answer")), try #require(URL(string: "https://shop.test/a")))
    let missing = HTTPRequest(.put, url, body: .file(URL(fileURLWithPath: "/missing")))
    await #expect(throws: (any Error).self) { try await stub.send(missing) }
    let head = try await stub.send(HTTPRequest(.head, url))
    #expect(try await head.body.collect().isEmpty)
    let empty = StubTransport(MockAnswer.data(Data("answer".utf8), type: .plainText, status: .noContent))
    let response = try await empty.send(HTTPRequest(.get, url))
    #expect(try await response.body.collect().isEmpty)
  }

  @Test func `returns its answers in order, with the next answer for a retry`() async throws {
    let stub = StubTransport([.status(503), .json(#"{"id": 7}"#)])
    #expect(try await shop(stub).send(GetWidget()) == Widget(id: 7))
    #expect(stub.requests.count == 2)
    let error = await #expect(throws: TaskError.self) { try await shop(stub).send(GetWidget()) }
    #expect(error?.code == .badRequest && error?.reason.contains("no answers left") == true)
  }

  @Test func `delays use the stub's clock and end at a shorter timeout`() async throws {
    let clock = CallClock(ManualClock(.whenIdle))
    let answer = MockAnswer.json(#"{"id": 7}"#).after(.seconds(600))
    let shop = Server(
      "https://shop.test", transport: StubTransport(answer, clock: clock), manager: TaskManager(clock: clock),
      asDefault: false
    ) { $0.defaultTimeout = .seconds(1000) }
    #expect(try await shop.send(GetWidget()) == Widget(id: 7))
    #expect(clock.now == .seconds(600))
    for timeouts in [Timeouts(firstByte: .seconds(60)), Timeouts(attempt: .seconds(30))] {
      let error = await #expect(throws: TaskError.self) {
        try await GetWidget().on(shop).timeouts(timeouts).retry(.never).send()
      }
      #expect(error?.timer == (timeouts.attempt == nil ? .firstByte : .attempt))
    }
    #expect(clock.now == .seconds(690))
  }

  @Test func `a dropped connection throws .connectionLost`() async throws {
    let stub = StubTransport([.drop, .drop])
    let error = await #expect(throws: TaskError.self) { try await shop(stub).send(GetWidget()) }
    #expect(error?.code == .connectionLost && stub.requests.count == 2)
  }

  @Test func `an answer that needs a connection throws an error that suggests MockServer`() async throws {
    let stub = StubTransport(.raw(Data("HTTP/1.1 200".utf8)))
    let error = await #expect(throws: TaskError.self) { try await shop(stub).send(GetWidget()) }
    #expect(error?.reason.contains("use MockServer") == true)
  }

  @Test func `keeps the newest 1,000 requests`() async throws {
    let stub = StubTransport(.json(#"{"id": 7}"#))
    let shop = shop(stub)
    for number in 0..<1001 { _ = try await shop.send(.request(.get, "\(number)")) }
    #expect(stub.requests.count == 1000 && stub.requests.first?.url.path == "/1")
  }
}
