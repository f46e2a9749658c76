import Errand
import ErrandFoundation
import ErrandTransfers

/// Downloads `--url` to `--file` in `--ranges` concurrent ranges, and continues earlier runs. Intended to be killed
/// while it runs.
struct TransferGetScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let file = options.file else { throw BenchError("transfer-get needs --file") }
    let task = URLTask(options.url).on(try options.server()).retry(.fixed(retries: 20, delay: .milliseconds(1)))
    try await ResumableDownload(task, to: file, ranges: options.ranges).run()
    return Done()
  }

  private struct Done: BenchReport {
    let description = #"{"client":"errand","scenario":"transfer-get"}"#
  }
}
