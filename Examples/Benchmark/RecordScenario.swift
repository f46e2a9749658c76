import Errand
import ErrandTesting
import ErrandFoundation

/// Records calls to the `--file` folder without a network. Intended to be killed while it writes.
struct RecordScenario: Scenario {
  let isEmbedded = true

  struct GetPage: ServerGETTask {
    let server: Server
    let path: String
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let folder = options.file else { throw BenchError("record needs --file") }
    let text = #"{"text":"\#(String(repeating: "x", count: 4000))"}"#
    let transport = StubTransport { request in
      await Task.yield()
      return .json(text, for: request)
    }
    let server = Server(
      Remote(options.url), transport: transport, manager: TaskManager(limits: .unlimited), environment: [:])
    try await server.recordTaskPath(to: folder, limits: RecordingLimits(count: options.recordings))
    let result = try await BenchResult.measure("record", options) {
      try await GetPage(server: server, path: "pages").run()
      return text.utf8.count
    }
    await server.endTaskPathRecording()
    return result
  }
}
