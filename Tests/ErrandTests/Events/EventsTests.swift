import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct EventsTests {
  private let recorder = EventRecorder()

  @Test func `a call that succeeds says what happened, in order`() async throws {
    let stub = StubServer(.status(503), .widget) { $0.observers = [recorder] }
    _ = try await GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(2)).download()
    #expect(
      recorder.moments() == [
        "call started", "attempt 1 started", "503 Service Unavailable", "body of 0 bytes",
        "attempt 1 ended: 503 Service Unavailable", "waiting 2.000 s to retry: 503 Service Unavailable", "wait over",
        "attempt 2 started", "200 OK", "body of 26 bytes", "attempt 2 ended: 200 OK", "decoded", "call succeeded",
      ])
    #expect(recorder.problems == [])
    #expect(recorder.events.allSatisfy { $0.task == "GetWidget" })
  }

  @Test func `whatever ends a call, everything that started has ended once`() async throws {
    struct Refused: Error {}
    let stub = StubServer(.data(Data("no JSON".utf8), .json)) { $0.observers = [recorder] }
    let server = stub.server
    let base = GetWidget().on(server)
    _ = try? await base.download()
    _ = try? await base.header("X", "a\nb").download()
    _ = try? await base.accepting(.only(201)).download()
    _ = try? await base.download(to: .known("file:///dev/null/below-a-file"))
    _ = try? await URLTask(.known("http://plain.test")).on(server).run()
    await server.update { $0.preflight = { _, _ in throw Refused() } }
    _ = try? await base.run()
    await server.update { $0.disabled = true }
    _ = try? await base.run()
    #expect(Set(recorder.events.map(\.call)).count == 7)
    #expect(recorder.problems == [])
  }

  @Test func `a stream ends when its body was read, or let go`() async throws {
    let stub = StubServer(.data(Data("abc".utf8), .plainText)) { $0.observers = [recorder] }
    do {
      let response = try await PlainTask().on(stub.server).stream()
      #expect(!recorder.isBalanced, "the body is still to be read")
      #expect(try await response.body.collect() == Data("abc".utf8))
    }
    do { _ = try await PlainTask().on(stub.server).stream() }
    await recorder.balanced()
    #expect(recorder.moments().count { $0 == "call succeeded with 200 OK" } == 2)
  }

  @Test func `a response and an error carry the record of what happened`() async throws {
    let stub = StubServer(.status(503), .widget, .status(404))
    let response = try await GetWidget().on(stub.server).response()
    #expect(response.record.title == "GET https://shop.test/widgets/7")
    #expect(response.record.description.contains("attempt 2 ended: 200 OK"))
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).run() }
    #expect(error?.record.attempts.map(\.status) == [404])
  }

  @Test func `log lines are as many as were asked for`() async throws {
    let lines = Shared<[String]>([])
    let sink = TextSink { line in lines.withLock { $0.append(line) } }
    for (style, count) in [(LogStyle.none, 0), (.short, 2), (.steps, 7)] {
      let stub = StubServer(.widget) {
        $0.logStyle = style
        $0.log = sink
      }
      lines.withLock { $0 = [] }
      _ = try await GetWidget().on(stub.server).download()
      #expect(lines.withLock { $0.count } == count, "\(style)")
    }
  }
}
