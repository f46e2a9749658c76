import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ModifiedTests {
  private struct Login: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    var timeout: Duration { .seconds(7) }
    var timeouts: Timeouts { Timeouts(idle: .seconds(3)) }
  }

  private func limits(_ task: some ServerTask) async throws -> Timeouts {
    let stub = StubServer(.widget) { $0.timeouts = Timeouts(connect: .seconds(1), idle: .seconds(2)) }
    try await task.on(stub.server).run()
    return try #require(stub.requests.first).options.timeouts
  }

  @Test func `a modified task keeps its methods and base type and leaves the original unchanged`() async throws {
    let stub = StubServer(.widget)
    let once: Modified<Login> = Login().timeout(.seconds(5))
    let twice: Modified<Login> = once.on(stub.server).tagged("a").priority(.high)
    let widget: Widget = try await twice.download()
    #expect(widget == Widget())
    let upload: Modified<AddWidget> = AddWidget().on(stub.server).retry(.never)
    try await upload.upload()
    #expect(twice.plan.taskTag == "a" && twice.plan.priority == .high)
    #expect(once.plan.taskTag == "Login", "a modifier does not change the original task")
  }

  @Test func `hooks receive the unmodified task`() async throws {
    let seen = Counter()
    let stub = StubServer(.widget) {
      $0.preflight = { task, _ in if task is Login { seen.add() } }
      $0.computedHeaders = { task in task is Login ? ["X": "1"] : [:] }
    }
    _ = try await Login().timeout(.seconds(5)).retry(.never).on(stub.server).download()
    #expect(seen.count == 1)
    #expect(stub.requests.first?.headers["X"] == "1")
  }

  @Test func `a modifier's timeout overrides the task's, which overrides the server's`() async throws {
    let expected = Timeouts(connect: .seconds(1), idle: .seconds(3), attempt: .seconds(7))
    #expect(try await limits(Login()) == expected)
    #expect(try await limits(Login().timeout(.seconds(5))).attempt == .seconds(5))
    #expect(try await limits(Login().timeouts(Timeouts(connect: .seconds(9)))).connect == .seconds(9))
    #expect(try await limits(PlainTask()).attempt == .seconds(30), "the server's default applies")
    #expect(try await limits(PlainTask()).idle == .seconds(2))
  }

  @Test func `the last modifier of a property takes precedence`() async throws {
    #expect(try await limits(PlainTask().timeout(.seconds(5)).timeout(.seconds(6))).attempt == .seconds(6))
  }

  @Test func `timeout(.inherited) restores the server's timeout`() async throws {
    #expect(try await limits(Login().timeout(.inherited)).attempt == .seconds(30))
  }

  private struct Plain: PayloadDecoder {
    func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload {
      try JSONDecoder().decode(type, from: Data(#"{"id":1,"name":"decoded"}"#.utf8))
    }
  }

  private enum Mark: TaskContextKey { static let defaultValue = "" }

  private func check(_ task: Modified<Login>, _ says: (TaskPlan) -> Bool, line: Int = #line) {
    #expect(says(task.plan), "line \(line)")
    #expect(!says(Login().plan), "the unmodified task already has this value, line \(line)")
    #expect(task.plan.task is Login && task.plan.taskName == "Login")
  }

  @Test func `every modifier changes its property`() {
    let server = StubServer(.widget).server
    let task = Login()
    check(task.on(server)) { $0.server === server }
    check(task.timeout(.seconds(5))) { $0.timeout == .seconds(5) }
    check(task.deadline(.seconds(60))) { $0.timeouts.call == .seconds(60) }
    check(task.timeouts(Timeouts(queue: .seconds(1)))) { $0.timeouts.queue == .seconds(1) }
    check(task.header("A", "1").header("A", "2")) { $0.headers.values(for: "A") == ["2"] }
    check(task.query("q", "1")) { $0.addedQuery == ["q": "1"] }
    check(task.retry(.attempts(7))) { $0.retryPolicy.maximumAttempts == 7 }
    check(task.retry(upTo: 4, after: .zero)) { $0.retryPolicy.maximumAttempts == 5 && !$0.retryPolicy.hasJitter }
    check(task.hedged(after: .seconds(1))) { !$0.hedging.isInherited && $0.hedging.delay == .seconds(1) }
    check(task.idempotency(.key)) { $0.idempotency == .key }
    check(task.priority(.urgent)) { $0.priority == .urgent }
    check(task.serialQueue(.named("q"))) { $0.serialQueue == .named("q") }
    check(task.addresses(.publicOnly)) { !$0.addressPolicy.allowsAll }
    check(task.redirects(.refuse)) { $0.redirectPolicy.kind == .refuse }
    check(task.cookies(.none)) { !$0.cookiePolicy.isInherited }
    check(task.accepting(.only(404))) { $0.acceptedStatuses.contains(404) && !$0.acceptedStatuses.contains(200) }
    check(task.tagged("t")) { $0.taskTag == "t" }
    check(task.comment("c")) { $0.comment == "c" }
    check(task.context(Mark.self, "m")) { $0.context[Mark.self] == "m" }
    check(task.echo()) { $0.echoStyle == .full }
    check(task.echo(.none)) { $0.echoStyle == .none }
    check(task.recording(.hidden)) { $0.recordingStyle == .hidden }
    check(task.decoder(Plain())) { $0.decoder is Plain }
  }

  @Test func `applies a modifier's decoder and accepted statuses`() async throws {
    let stub = StubServer(.status(404), .status(404))
    let task = Login().on(stub.server).accepting(.only(404))
    #expect(try await task.decoder(Plain()).download() == Widget(id: 1, name: "decoded"))
    await #expect(throws: TaskError.self) { try await task.download() }
  }
}
