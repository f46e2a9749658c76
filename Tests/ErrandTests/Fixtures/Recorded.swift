import ErrandTesting

@testable import Errand

extension Server {
  /// Waits until all calls that have ended are written. Recording continues.
  func recorded() async { await manager.recorder?.finish() }
}

/// Returns the calls that `body` makes in virtual time, on a server with these answers.
func recordedCalls(
  _ answers: StubLog.Answer..., configure: (inout ServerConfiguration) -> Void = { _ in },
  _ body: (Server) async throws -> Void
) async throws -> [RecordedCall] {
  let (calls, log) = (RecordedCalls(), StubLog(answers))
  var configuration = ServerConfiguration()
  configuration.userAgent = "tests"
  configuration.recorders = [calls]
  configure(&configuration)
  let server = Server(
    "https://shop.test", configuration: configuration, transport: StubTransport { try log.answer($0) },
    manager: TaskManager(clock: CallClock(ManualClock(.autoAdvancing))), asDefault: false, environment: [:])
  try await body(server)
  return calls.calls
}
