import Errand
import ErrandTesting
import Foundation
import Testing

/// Server-sent events on real sockets.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct EventsJourneyTests {
  private func answer(_ text: String) -> MockAnswer {
    .chunked(text.map { Data(String($0).utf8) }, type: "text/event-stream")
  }

  @Test func `a truncated event stream resumes after the last event`() async throws {
    let shop = try Shop()
    let first = Data("retry: 1\n\nid: 1\ndata: a\r\n\r\ndata: lost".utf8)
    shop.mock.enqueue(.truncated(body: first + Data(count: 100), after: first.count, type: "text/event-stream"))
    shop.mock.enqueue(answer("id: 2\r\ndata: b\r\ndata: é\r\n\r\n"))
    shop.mock.enqueue(.status(204))
    var data: [String] = []
    for try await event in PlainTask().on(shop.server).events() { data.append(event.data) }
    #expect(data == ["a", "b\né"])
    #expect(shop.mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2"])
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `leaving the loop over the events closes the connection`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.endless(chunk: Data("data: a\n\n".utf8), type: "text/event-stream"))
    for try await _ in PlainTask().on(shop.server).events() { break }
    try await shop.mock.waitForOpenConnections(0)
    #expect(await eventually { shop.isQuiet && shop.server.manager.throttle.streams == 0 })
  }

  @Test func `reconnects if the stream is idle for longer than the idle timeout`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(
      MockAnswer.chunked([Data("retry: 1\nid: 1\ndata: a\n\n".utf8), Data(":\n".utf8)], type: "text/event-stream")
        .throttled(bytes: 1000, every: .seconds(600)))
    shop.mock.enqueue(.status(204))
    var count = 0
    for try await _ in PlainTask().on(shop.server).timeouts(Timeouts(idle: .seconds(1))).events() { count += 1 }
    #expect(count == 1 && shop.mock.requests.count == 2)
  }
}
