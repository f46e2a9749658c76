public import Errand
import ErrandFoundation

/// Checks that a task sends the expected request, without using the network.
///
///     try await expectTask(
///       AddWidget(uploadPayload: widget),
///       sends: ExpectedRequest(.post, "/widgets", headers: ["Accept": "*/*"], body: .json(#"{"id":7}"#)))
///
/// For a task without a path, or to check the remote as well, expect the complete URL:
///
///     try await expectTask(
///       FindWidgets(uploadPayload: search), sends: ExpectedRequest(.post, "https://api.test/graphql"))
///
/// Misspelled stored properties, such as `let paht = "x"` or `let priority = 3`, are detected. An ignored stored
/// property that looks like a setting of the task counts as a difference, unless it is listed in `otherProperties`. The
/// settings of the task's server are used, but not its transport. The server's remote is only used if a complete URL is expected.
/// Hooks that run after the response are not called.
///
/// - Parameters:
///   - task: The task.
///   - expected: The expected request.
///   - otherProperties: The names of properties that only resemble a requirement.
/// - Throws: ``TaskExpectationError`` with the differences, one per line. If nothing is sent, throws the call's error.
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
  configuration.recorders = []
  configuration.logStyle = .none
  configuration.logOptions = []
  let isWhole = expected.target.contains("://") && task.server.remote != .none
  let remote = isWhole ? task.server.remote : "https://expected.test"
  let server = Server(remote, configuration: configuration, transport: transport, asDefault: false, environment: [:])
  do {
    try await task.modified { plan in
      plan.server = server
      plan.retryPolicy = .never
    }.run()
  } catch is RequestWasSent {
  }
  guard let (request, body) = sent.withLock({ $0 }) else {
    throw TaskExpectationError(
      description: "\(task.plan.taskName) sent no request: a step on its server returned a response")
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

/// The differences between the expected request and the actual request.
public struct TaskExpectationError: Error, Sendable, CustomStringConvertible {
  /// The differences, one per line.
  public let description: String
}

/// Thrown to end a call as soon as its request is known.
private struct RequestWasSent: Error {}
