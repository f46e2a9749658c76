public import Errand
import ErrandFoundation

/// Checks that a task sends the expected request, without a network.
///
///     try await expectTask(
///       AddWidget(uploadPayload: widget),
///       sends: ExpectedRequest(.post, "/widgets", headers: ["Accept": "*/*"], body: .json(#"{"id":7}"#)))
///
/// For a task without a path, or to check the remote as well, expect the whole URL:
///
///     try await expectTask(
///       FindWidgets(uploadPayload: search), sends: ExpectedRequest(.post, "https://api.test/graphql"))
///
/// It catches a misspelled requirement, such as `var paht` or `let priority = 3`. Stored properties that look like a
/// setting of the task and are ignored are differences as well, unless they are in `otherProperties`. The task's server
/// is used with its settings, but not its transport, and its remote only if a whole URL is expected. Hooks that follow
/// the response are not called.
///
/// - Parameters:
///   - task: The task.
///   - expected: The expected request.
///   - otherProperties: The names of properties that only resemble a requirement.
/// - Throws: ``TaskExpectationError`` with the differences, one per line. If nothing is sent, the error of the call.
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
  let isWhole = expected.target.contains("://") && task.server.remote != .none
  let remote = isWhole ? task.server.remote : "https://expected.test"
  let server = Server(remote, configuration: configuration, transport: transport, asDefault: false)
  do {
    try await task.modified { plan in
      plan.server = server
      plan.retryPolicy = .never
    }.run()
  } catch is RequestWasSent {
  }
  guard let (request, body) = sent.withLock({ $0 }) else {
    throw TaskExpectationError(
      description: "\(task.plan.taskName) sent no request: a step of its server returned a response")
  }
  let differences =
    TaskSpelling.problems(of: task.unmodified, ignoring: otherProperties)
    + TaskSpelling.synonyms(in: task.plan, sending: request, ignoring: otherProperties)
    + expected.differences(from: request, body: body)
  guard differences.isEmpty else {
    let lines = ["\(task.plan.taskName) sends an unexpected request:"] + differences.map { "  \($0)" }
    throw TaskExpectationError(description: lines.joined(separator: "\n"))
  }
}

/// An error for a task that sent a different request than expected.
public struct TaskExpectationError: Error, Sendable, CustomStringConvertible {
  /// The differences, one per line.
  public let description: String
}

/// Ends a call as soon as its request is known.
private struct RequestWasSent: Error {}
