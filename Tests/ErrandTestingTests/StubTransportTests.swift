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

  @Test func `returns its answers in order, and a retry gets the next one`() async throws {
    let stub = StubTransport([.status(503), .json(#"{"id": 7}"#)])
    #expect(try await shop(stub).send(GetWidget()) == Widget(id: 7))
    #expect(stub.requests.count == 2)
    let error = await #expect(throws: TaskError.self) { try await shop(stub).send(GetWidget()) }
    #expect(error?.code == .badRequest && error?.reason.contains("no answer left") == true)
  }

  @Test func `a dropped connection is an error`() async throws {
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
