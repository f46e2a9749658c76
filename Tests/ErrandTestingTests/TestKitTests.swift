import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ManualClockTests {
  @Test func `sleepers wake in order of their deadlines`() async throws {
    let clock = ManualClock()
    let order = Shared<[Int]>([])
    let tasks = [3, 1, 2].map { number in
      Task {
        try await clock.sleep(for: .seconds(number))
        order.withLock { $0.append(number) }
      }
    }
    await clock.sleepers(count: 3)
    clock.advance(by: .milliseconds(999))
    #expect(clock.sleeperCount == 3)
    for left in [2, 1, 0] {
      clock.advance(by: .seconds(1))
      #expect(clock.sleeperCount == left)
      #expect(await eventually { order.withLock({ $0.count }) >= 3 - left })
    }
    for task in tasks { try await task.value }
    #expect(order.withLock { $0 } == [1, 2, 3])
    #expect(clock.now.offset == .milliseconds(3999))
  }

  @Test func `a cancelled sleeper throws immediately`() async {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.sleepers(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `sleeping on an auto-advancing clock never waits`() async throws {
    let clock = ManualClock(.autoAdvancing)
    try await clock.sleep(for: .seconds(3600))
    try await clock.sleep(for: .seconds(-5))
    #expect(clock.now.offset == .seconds(3600))
  }

  /// On a busy machine, the clock may advance before all tasks sleep, so this is tried several times.
  @Test func `a clock that advances when idle wakes the earliest sleeper first`() async throws {
    func order(_ clock: ManualClock) async throws -> [Duration] {
      let order = Shared<[Duration]>([])
      let tasks = [30, 10, 20].map { number in
        Task {
          try await clock.sleep(for: .seconds(number))
          order.withLock { $0.append(clock.now.offset) }
        }
      }
      // Reading the clock keeps it from being idle.
      while clock.sleeperCount < 3, clock.now.offset == .zero { await giveWay() }
      for task in tasks { try await task.value }
      return order.withLock { $0 }
    }
    let isOrdered = try await eventually {
      let clock = ManualClock(.whenIdle)
      guard try await order(clock) == [.seconds(10), .seconds(20), .seconds(30)] else { return false }
      #expect(clock.sleeperCount == 0)
      try await clock.sleep(for: .seconds(5))
      #expect(clock.now.offset == .seconds(35))
      return true
    }
    #expect(isOrdered)
  }

  @Test func `cancelling ends a wait for sleepers`() async {
    let clock = ManualClock()
    let task = Task { await clock.sleepers(count: 1) }
    await giveWay()
    task.cancel()
    await task.value
  }

  @Test func `the same seed yields the same numbers`() {
    var a = SeededGenerator(seed: 0)
    var b = SeededGenerator(seed: 0)
    var c = SeededGenerator(seed: 1)
    let numbers = (0..<3).map { _ in a.next() }
    #expect(numbers == (0..<3).map { _ in b.next() })
    #expect(numbers[0] == 0xE220_A839_7B1D_CDAF, "the first SplitMix64 number for seed 0")
    #expect(numbers[0] != c.next())
  }
}

@Suite(.timeLimit(.minutes(1))) struct TaskExpectationTests {
  private struct Rename: ServerPUTTask, PayloadUploadingTask {
    var uploadPayload: [String: String] { ["name": "new", "by": "me"] }
    var path: String { "widgets/7" }
    var query: HTTPQuery { ["full": "1"] }
    var headers: HTTPHeaders { ["X-Mine": "1"] }
  }

  @Test func `expectTask passes if the task sends the expected request`() async throws {
    let json = #"{ "name": "new", "by": "me" }"#
    let expected = ExpectedRequest(.put, "/widgets/7?full=1", headers: ["x-mine": "1"], body: .json(json))
    try await expectTask(Rename(), sends: expected)
    let url = try #require(URL(string: "https://a.test/x"))
    try await expectTask(URLTask(url), sends: ExpectedRequest(.get, "https://a.test/x", body: .empty))
  }

  @Test func `expectTask neither logs nor records the task`() async throws {
    let (lines, calls) = (Shared<[String]>([]), RecordedCalls())
    let server = Server("https://a.test", asDefault: false) {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
      $0.logStyle = .steps
      $0.logOptions = .full
      $0.recorders = [calls]
    }
    struct Find: ServerGETTask { let path = "x" }
    try await expectTask(Find().on(server), sends: ExpectedRequest(.get, "/x"))
    #expect(lines.withLock { $0 } == [] && calls.calls.isEmpty)
  }

  private struct Number: ServerPOSTTask, DataUploadingTask {
    let text: String
    var path: String { "numbers" }
    var uploadData: Data { Data(text.utf8) }
    var uploadType: MediaType { .json }
  }

  @Test func `expectTask compares an absolute expected URL with the task's full URL`() async throws {
    struct Ask: ServerPOSTTask {}
    let api = Server("https://api.test/graphql", asDefault: false)
    try await expectTask(Ask().on(api), sends: ExpectedRequest(.post, "https://api.test/graphql"))
    try await expectTask(
      Ask().on(api).query("a", "b"), sends: ExpectedRequest(.post, "https://api.test/graphql?a=b"))
    try await expectTask(Ask().on(api), sends: ExpectedRequest(.post, "/"))
    let error = await #expect(throws: TaskExpectationError.self) {
      try await expectTask(Ask().on(api), sends: ExpectedRequest(.post, "https://api.test/graphql/"))
    }
    #expect(error?.description.contains(#"got "https://api.test/graphql""#) == true)
  }

  @Test(arguments: [
    (#"{"id":18446744073709551614}"#, #"{"id":18446744073709551615}"#),
    (#"{"id":9223372036854775809}"#, #"{"id":9223372036854775808}"#),
    ("[12345678901234567.89]", "[12345678901234567.00]"),
    ("[9007199254740993.0]", "[9007199254740992]"), ("[0.1]", "[0.10000000000000000001]"), ("[1e-200]", "[1e-201]"),
  ]) func `JSON numbers are unequal if any digit differs`(sent: String, expected: String) async throws {
    try await expectTask(Number(text: sent), sends: ExpectedRequest(.post, "/numbers", body: .json(sent)))
    await #expect(throws: TaskExpectationError.self) {
      try await expectTask(Number(text: sent), sends: ExpectedRequest(.post, "/numbers", body: .json(expected)))
    }
  }

  @Test(arguments: [
    ("[1.0]", "[1]"), ("[1e2]", "[100]"), ("[0.10]", "[0.1]"), ("[-0]", "[0]"), ("[1.50e-3]", "[0.0015]"),
    ("[1.0e-200]", "[1e-200]"), ("[1e300]", "[1.0e300]"), ("[18446744073709551615.0]", "[18446744073709551615]"),
  ]) func `JSON numbers are equal if they have the same value`(sent: String, expected: String) async throws {
    try await expectTask(Number(text: sent), sends: ExpectedRequest(.post, "/numbers", body: .json(expected)))
  }

  @Test func `waiting for a condition that never becomes true ends at the time limit`() async {
    let start = ContinuousClock.now
    #expect(await eventually(within: .milliseconds(20)) { false } == false)
    #expect(ContinuousClock.now - start >= .milliseconds(20))
  }

  @Test func `cancelling ends a wait for balanced events`() async throws {
    let recorder = EventRecorder()
    let server = Server("https://a.test", transport: StubTransport { .status(.ok, for: $0) })
    await server.update { $0.observers = [recorder] }
    let response = try await Rename().on(server).stream()
    let task = Task { await recorder.balanced() }
    await giveWay()
    task.cancel()
    await task.value
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await recorder.balanced()
    }
    await cancelled.value
    #expect(!recorder.isBalanced)
    response.body.cancel()
    await recorder.balanced()
    #expect(recorder.isBalanced)
  }

  @Test func `expectTask lists each difference on its own line`() async throws {
    let expected = ExpectedRequest(.post, "/widgets/8", headers: ["X-Mine": "2", "X-None": "3"], body: .text("{}"))
    let error = await #expect(throws: TaskExpectationError.self) { try await expectTask(Rename(), sends: expected) }
    let lines = error?.description.split(separator: "\n") ?? []
    let modified = Rename().timeout(.seconds(1))
    let same = await #expect(throws: TaskExpectationError.self) { try await expectTask(modified, sends: expected) }
    // Not compared as a whole, because dictionary keys are encoded in random order.
    #expect(lines.count == 6 && same?.description.hasPrefix("Rename sends an unexpected request:") == true)
    #expect(lines.first == "Rename sends an unexpected request:")
    #expect(lines.contains(#"  method: expected "POST", got "PUT""#))
    #expect(lines.contains(#"  header X-None: expected "3", got nothing"#))
  }

  @Test func `expectTask throws the error of a task that can't be sent`() async {
    struct Bad: ServerPOSTTask, PayloadUploadingTask { var uploadPayload: [Double] { [.nan] } }
    let error = await #expect(throws: TaskError.self) {
      try await expectTask(Bad(), sends: ExpectedRequest(.post, "/"))
    }
    #expect(error?.code == .encodingFailed)
  }

  @Test func `a recorder reports unbalanced events`() async throws {
    let recorder = EventRecorder()
    let server = Server("https://a.test", transport: StubTransport { .status(.ok, for: $0) })
    await server.update { $0.observers = [recorder] }
    do {
      let response = try await Rename().on(server).stream()
      #expect(recorder.problems.count == 2 && recorder.problems.allSatisfy { $0.hasSuffix("has not ended") })
      response.body.cancel()
    }
    await recorder.balanced()
    #expect(recorder.isBalanced && recorder.events.count > 3)
  }
}
