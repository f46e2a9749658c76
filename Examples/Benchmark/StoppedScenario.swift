import Errand
import ErrandFoundation

/// Sends a GET to `--url` with timeouts of 500 ms. A test suspends the process while it waits for the response.
struct StoppedScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let limit = Duration.milliseconds(500)
    var request = HTTPRequest(.get, options.url)
    request.options.timeouts = Timeouts(connect: limit, firstByte: limit, idle: limit, attempt: limit)
    _ = try await options.transport().send(request).body.collect()
    return Done()
  }

  private struct Done: BenchReport {
    let description = #"{"client":"errand","scenario":"stopped"}"#
  }
}
