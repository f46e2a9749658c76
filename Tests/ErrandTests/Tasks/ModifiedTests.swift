import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct ModifiedTests {
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

  @Test func `a modified task keeps its verbs, and modifying it again is still a Modified of the same base`()
    async throws
  {
    let stub = StubServer(.widget)
    let once: Modified<Login> = Login().timeout(.seconds(5))
    let twice: Modified<Login> = once.on(stub.server).tagged("a").priority(.high)
    let widget: Widget = try await twice.download()
    #expect(widget == Widget())
    let upload: Modified<AddWidget> = AddWidget().on(stub.server).retry(.never)
    try await upload.upload()
    #expect(twice.plan.taskTag == "a" && twice.plan.priority == .high)
    #expect(once.plan.taskTag == "Login", "a modifier leaves the task that it was called on alone")
  }

  @Test func `hooks see the task as it was declared`() async throws {
    let seen = Counter()
    let stub = StubServer(.widget) {
      $0.preflight = { task, _ in if task is Login { seen.add() } }
      $0.computedHeaders = { task in task is Login ? ["X": "1"] : [:] }
    }
    _ = try await Login().timeout(.seconds(5)).retry(.never).on(stub.server).download()
    #expect(seen.count == 1)
    #expect(stub.requests.first?.headers["X"] == "1")
  }

  @Test func `limits come from the modifier, then the task, then the server`() async throws {
    let expected = Timeouts(connect: .seconds(1), idle: .seconds(3), attempt: .seconds(7))
    #expect(try await limits(Login()) == expected)
    #expect(try await limits(Login().timeout(.seconds(5))).attempt == .seconds(5))
    #expect(try await limits(Login().timeouts(Timeouts(connect: .seconds(9)))).connect == .seconds(9))
    #expect(try await limits(PlainTask()).attempt == .seconds(30), "the server's default")
    #expect(try await limits(PlainTask()).idle == .seconds(2))
  }

  @Test func `the last modifier of a kind counts`() async throws {
    #expect(try await limits(PlainTask().timeout(.seconds(5)).timeout(.seconds(6))).attempt == .seconds(6))
  }

  @Test func `inherited, said with the modifier, is what the server says`() async throws {
    #expect(try await limits(Login().timeout(.inherited)).attempt == .seconds(30))
  }

  @Test func `every modifier changes what it says`() throws {
    let task = PlainTask()
      .deadline(.seconds(60)).header("A", "1").header("A", "2").idempotency(.key).serialQueue(.named("q"))
      .accepting(.only(404)).echo().recording(.hidden).decoder(JSONDecoder())
    let plan = task.plan
    #expect(plan.timeouts.call == .seconds(60))
    #expect(plan.headers.values(for: "A") == ["2"])
    #expect(plan.idempotency == .key)
    #expect(plan.serialQueue == .named("q"))
    #expect(plan.echoStyle == .full)
    #expect(plan.recordingStyle == .hidden)
    #expect(plan.task is PlainTask)
    #expect(plan.taskName == "PlainTask")
  }
}
