import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A cancellation from outside ends whatever a call waits for; how is said in one place each.
@Suite struct SurroundingsTests {
  private struct Passing: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  /// The surroundings of a call, with one feature in use.
  private func surroundings(
    _ transport: any Transport = .platform, delivery: Delivery = .memory, plan: (inout TaskPlan) -> Void = { _ in },
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> Surroundings? {
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configure(&configuration)
    let server = Server(remote: "https://shop.test", configuration: configuration, transport: transport)
    var described = GetWidget().on(server).plan
    plan(&described)
    let trace = CallTrace(
      call: 1, task: "Ping", clock: .continuous, observers: [], logStyle: .none, log: .discard)
    return Surroundings.of(described, server.snapshot, delivery, trace)
  }

  @Test func `each part that waits around the attempts, by itself, gives the call a Swift task of its own`() throws {
    let each: [String: Surroundings?] = [
      "queue": surroundings(plan: { $0.serialQueue = .named("a") }),
      "control": surroundings(plan: { $0.control = CallControl { _ in } }),
      "hedging": surroundings(plan: { $0.hedging = .after(.seconds(1)) }),
      "coalesces": surroundings(configure: { $0.coalescesRequests = true }),
      "caching": surroundings(configure: { $0.cache = MemoryCache() }),
      "callSteps": surroundings(configure: { $0.perCallSteps = [Passing()] }),
      "authentication": surroundings(configure: { $0.authentication = .bearer("a") }),
      "connectivity": surroundings(configure: { $0.waitsForConnectivity = true }),
      "progress": surroundings(plan: { $0.progress = { _ in } }),
      "attemptSteps": surroundings(configure: { $0.perAttemptSteps = [Passing()] }),
    ]
    #expect(
      surroundings(StubTransport { .status(.ok, for: $0) }) != nil, "a transport that cannot be told to end an exchange"
    )
    for (name, surroundings) in each { #expect(surroundings != nil, "\(name)") }
    #expect(surroundings(configure: { $0.hedging = .after(.seconds(1)) }) != nil, "of the server")
    #expect(surroundings(plan: { $0.authentication = .bearer("a") }) != nil, "of the task")
    let all = try #require(surroundings(plan: { $0.serialQueue = .named("a") }))
    #expect(Set(Mirror(reflecting: all).children.compactMap(\.label)) == Set(each.keys), "a new part is tried here too")
  }

  @Test func `most calls have none, and need no Swift task of their own`() {
    #if os(Linux)  // URLSession hears nothing but Swift's own cancellation
      #expect(surroundings() == nil)
      #expect(surroundings(delivery: .stream, plan: { $0.hedging = .after(.seconds(1)) }) == nil, "no stream is hedged")
    #endif
  }

  /// What the room of calls awaits of others, and how a cancellation from outside ends it.
  private static let awaited: [String: String] = [
    "send": "the exchange ends, or the task of a call with steps or another transport",
    "next": "the exchange ends, and its body with it",
    "forEachChunk": "the exchange ends, and its body with it", "sink": "the exchange ends, and its body with it",
    "forEachCountedChunk": "the exchange ends, and its body with it",
    "gather": "the exchange ends, and its body with it",
    "wait": "interruptible: a slot is waited for in a task of its own",
    "sleep": "interruptible: a delay is waited for in a task of its own",
    "verdict": "interruptible: an app's policy runs in a task of its own",
    "decision": "interruptible: an app's policy runs in a task of its own",
    "preflight": "interruptible", "encode": "interruptible", "uploadBody": "interruptible", "url": "interruptible",
    "headers": "interruptible",
    "provider": "interruptible", "didStart": "interruptible",
    "willRetry": "interruptible", "postProcess": "interruptible", "postflight": "interruptible",
    "finish": "interruptible", "pass": "the task of a call with a control",
    "withTurn": "the task of a call with a queue",
    "Next": "the task of a call with steps",
    "perform": "a call of its own: for a token, in the task of its refresh; for a validation, in a task of its own",
    "value": "the wait that is told to end",
    "withTaskCancellationHandler": "waits for what it is given",
    "withTaskGroup": "waits for its children, which are cancelled with it",
    "withThrowingTaskGroup": "waits for its children, which are cancelled with it",
    "withValue": "waits for what it is given", "limiting": "waits for what it is given",
    "finding": "waits for what it is given",
    "withSlot": "waits for what it is given", "renewingProxyCredential": "waits for what it is given",
    "renew": "interruptible", "permit": "waits for what it is given",
    "sending": "waits for what it is given",
    "fill": "the task of a call with a cache", "last": "waits for what it is given",
    "body": "waits for what it is given",
    "answer": "a hedge waits for the slot of the first attempt in a child task, which is cancelled with the race",
    "entries": "the task of a call with a cache", "store": "the task of a call with a cache",
    "update": "the task of a call with a cache", "remove": "the task of a call with a cache",
    "removeAll": "the task of a call with a cache", "received": "the task of a call with a cache",
    "outcome": "the task of a call that joins others", "work": "goes on in a task of its own",
    "again": "waits for what it is given", "attempt": "waits for what it is given",
    "willStart": "a hook that cancelling does not interrupt",
    "didFail": "a hook that runs in a cancelled task where the call was cancelled",
    "didComplete": "a hook that runs in a cancelled task where the call was cancelled",
  ]

  @Test func `a call awaits nothing of which it is not known how a cancellation ends it`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/Errand/Calls")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    let files = names.map { folder.appendingPathComponent($0) }
    let code = try files.map { try String(contentsOf: $0, encoding: .utf8).replacing(/\/\/.*/, with: "") }.joined()
    let own = Set(code.matches(of: /func (\w+)/).map { String($0.1) })
    var seen: Set<String> = []
    for match in code.matches(of: /await\s+([\w?.$]+)/) {
      // The name that is called, or read: `sleep` of `await manager.clock.sleep(for: delay)`.
      let chain = match.1.split(separator: ".").map(String.init)
      let isOwn = chain.count == 1 || (chain.count == 2 && ["self", "call", "attempt"].contains(chain[0]))
      if let name = chain.last, !isOwn || !own.contains(name) { seen.insert(name) }
    }
    #expect(seen.count > 20)
    for name in seen.sorted() {
      #expect(
        Self.awaited[name] != nil,
        "\(name) waits: run it in interruptible, or make it a part of Surroundings, and have a call wait there in CancelledAnywhereTests"
      )
    }
  }
}
