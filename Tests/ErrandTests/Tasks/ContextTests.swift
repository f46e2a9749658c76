import Errand
import ErrandTesting
import Foundation
import Testing

private enum Screen: TaskContextKey { static let defaultValue = "none" }
private enum Attempts: TaskContextKey { static let defaultValue = 0 }

@Suite(.timeLimit(.minutes(1))) struct ContextTests {
  private struct ShelfTask: ServerGETTask {
    var context: TaskContext {
      var context = TaskContext()
      context[Screen.self] = "shelf"
      return context
    }
    var comment: String { "why not" }
  }

  /// Records the context that it receives.
  private final class Spy: PerAttemptStep, TaskObserver {
    let seen = Shared<[String]>([])
    var delivery: ObserverDelivery { .inline }

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      seen.withLock {
        $0.append("step \(request.options.context[Screen.self]) \(request.options.context[Attempts.self])")
      }
      return try await next(request)
    }

    func observe(_ event: TaskEvent) {
      seen.withLock { $0.append("event \(event.context[Screen.self]) \(event.context[Attempts.self])") }
    }
  }

  @Test func `a key that is not set has its default value`() {
    var context = TaskContext()
    #expect(context.isEmpty && context[Screen.self] == "none" && context[Attempts.self] == 0)
    context[Attempts.self] = 3
    #expect(!context.isEmpty && context[Screen.self] == "none" && context[Attempts.self] == 3)
  }

  @Test func `steps and observers receive the context of a task and its modifiers`() async throws {
    let spy = Spy()
    let stub = StubServer(.status(200)) {
      $0.perAttemptSteps = [spy]
      $0.observers = [spy]
    }
    try await ShelfTask().on(stub.server).context(Attempts.self, 2).run()
    #expect(Set(spy.seen.withLock { $0 }) == ["step shelf 2", "event shelf 2"])
    spy.seen.withLock { $0 = [] }
    try await PlainTask().on(stub.server).context(Screen.self, "x").run()
    #expect(Set(spy.seen.withLock { $0 }) == ["step x 0", "event x 0"])
  }

  @Test func `does not send the context`() async throws {
    let stub = StubServer(.status(200))
    try await ShelfTask().on(stub.server).context(Screen.self, "s3cret").run()
    let request = try #require(stub.requests.first)
    #expect(request.headers.map(\.name.description).sorted() == ["Accept", "User-Agent"])
    #expect(!request.url.absoluteString.contains("s3cret"))
  }

  @Test func `echoes and records a comment unless the task's recording is hidden`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.status(200)) {
        $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
        $0.echoesTasks = true
      }
      try await stub.server.recordTaskPath(to: folder)
      try await ShelfTask().on(stub.server).run()
      try await PlainTask().on(stub.server).comment("because").run()
      try await PlainTask().on(stub.server).comment("s3cret").recording(.hidden).run()
      await stub.server.recorded()
      let echoes = lines.withLock { $0 }
      #expect(echoes.count == 3 && echoes[0].contains("why not") && echoes[1].contains("because"))
      let files = try files(in: folder).filter { $0.hasSuffix(".txt") || $0.hasSuffix(".json") }
      let texts = try files.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
      #expect(texts.count == 4 && texts[0].contains("why not") && texts[1].contains("because"))
      #expect(texts[3].contains("because"), "the index contains the comment too")
      #expect(!(texts + echoes).joined().contains("s3cret"))
    }
  }
}
