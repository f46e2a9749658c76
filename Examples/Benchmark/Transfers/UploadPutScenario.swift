import Errand
import ErrandFoundation
import ErrandTransfers

/// Uploads `--file` to `--url` with tus in chunks of `--concurrency` MiB, and continues earlier runs. Intended to be
/// killed while it runs.
struct UploadPutScenario: Scenario {
  struct AddFile: ServerPOSTTask {
    let server: Server
    let url: URL
  }

  let defaultConcurrency = 8

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let file = options.file else { throw BenchError("upload-put needs --file") }
    let task = AddFile(server: try options.server(), url: options.url).retry(
      .fixed(retries: 20, delay: .milliseconds(1)))
    try await ResumableUpload(of: file, with: task, by: .tus, chunkSize: options.concurrency << 20).run()
    return Done()
  }

  private struct Done: BenchReport {
    let description = #"{"client":"errand","scenario":"upload-put"}"#
  }
}
