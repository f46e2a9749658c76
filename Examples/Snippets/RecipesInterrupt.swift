import Dispatch
import Errand
import Foundation

func runUntilInterrupted(_ shop: Server, _ work: @escaping @Sendable () async throws -> Void) async throws {
  let run = Task { try await work() }
  signal(SIGINT, SIG_IGN)  // otherwise, SIGINT ends the process immediately
  let interrupt = DispatchSource.makeSignalSource(signal: SIGINT)
  interrupt.setEventHandler {
    run.cancel()
    Task { await shop.manager.cancelAll() }
  }
  interrupt.resume()
  defer { interrupt.cancel() }

  do {
    try await run.value
  } catch is CancellationError {
    exit(130)
  }
}
