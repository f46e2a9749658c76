import Errand
import ErrandFoundation

/// Sends a GET to `--url` with timeouts of 500 ms, or as a call with a deadline of 500 ms if `--requests` is 2. A test
/// suspends the process while it waits for the response. Exits with code 3 if the request timed out.
struct StoppedScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let limit = Duration.milliseconds(500)
    do {
      if options.requests == 2 {
        let server = Server(.none, transport: try options.transport(), asDefault: false)
        _ = try await URLTask(options.url).on(server).deadline(limit).download()
        return Done()
      }
      try await send(limit, options)
    } catch let error as TaskError where error.code == .timedOut {
      exit(3)
    }
    return Done()
  }

  private func send(_ limit: Duration, _ options: BenchOptions) async throws {
    var request = HTTPRequest(.get, options.url)
    request.options.timeouts = Timeouts(connect: limit, firstByte: limit, idle: limit, attempt: limit)
    _ = try await options.transport().send(request).body.collect()
  }

  private struct Done: BenchReport {
    let description = #"{"client":"errand","scenario":"stopped"}"#
  }
}
