public import Errand
import ErrandFoundation

/// Checks that a task sends the request that it should, without a network.
///
///     try await expectTask(
///       AddWidget(uploadPayload: widget),
///       sends: ExpectedRequest(.post, "/widgets", headers: ["Accept": "*/*"], body: .json(#"{"id":7}"#)))
///
/// It catches a requirement that was mistyped, and so is not overridden: `var paht`, `let priority = 3`. Stored properties that
/// look like an aspect of the task and count for nothing are differences, too, unless they are among `otherProperties`. The settings of the task's server count, its remote and its transport do not. Hooks after the response are not called.
///
/// - Parameters:
///   - task: The task.
///   - expected: The request.
///   - otherProperties: The names of properties that are meant for nothing else, though they look like an aspect.
/// - Throws: ``TaskExpectationError`` that lists the differences, one a line; what the call throws where it sends
///   nothing at all.
public func expectTask(
  _ task: some ServerTask, sends expected: ExpectedRequest, otherProperties: Set<String> = []
) async throws {
  let sent = Lock<(request: HTTPRequest, body: Data)?>(nil)
  let transport = StubTransport { request in
    let body = Lock(Data())
    try await request.body.forEachChunk { chunk in body.withLock { $0.append(chunk) } }
    let bytes = body.withLock { $0 }
    sent.withLock { $0 = $0 ?? (request, bytes) }
    throw RequestWasSent()
  }
  var configuration = task.server.configuration
  configuration.disabled = false
  configuration.observers = []
  let server = Server(remote: "https://expected.test", configuration: configuration, transport: transport)
  do {
    try await task.modified { plan in
      plan.server = server
      plan.retryPolicy = .never
    }.run()
  } catch is RequestWasSent {
  }
  guard let (request, body) = sent.withLock({ $0 }) else {
    throw TaskExpectationError(description: "\(task.plan.taskName) sent nothing: a step of its server answered")
  }
  let differences =
    TaskSpelling.problems(of: task.unmodified, ignoring: otherProperties)
    + TaskSpelling.synonyms(in: task.plan, sending: request, ignoring: otherProperties)
    + expected.differences(from: request, body: body)
  guard differences.isEmpty else {
    let lines = ["\(task.plan.taskName) sends another request than expected:"] + differences.map { "  \($0)" }
    throw TaskExpectationError(description: lines.joined(separator: "\n"))
  }
}

/// A task sent another request than it should have.
public struct TaskExpectationError: Error, Sendable, CustomStringConvertible {
  /// The differences, one a line.
  public let description: String
}

/// Ends a call as soon as its request is known.
private struct RequestWasSent: Error {}
