import Errand
import ErrandFoundation
import ErrandInspection

/// A benchmark.
protocol Scenario: Sendable {
  var defaultRequests: Int { get }
  var defaultConcurrency: Int { get }
  /// Whether the benchmark starts its own server.
  var isEmbedded: Bool { get }

  func run(_ options: BenchOptions) async throws -> any BenchReport
}

extension Scenario {
  var defaultRequests: Int { 1000 }
  var defaultConcurrency: Int { 1 }
  var isEmbedded: Bool { false }
}

/// Calls `Transport.send` and collects the body, without a server or manager.
struct TransportScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let transport = try options.transport()
    let url = options.url
    return try await BenchResult.measure("transport", options) {
      let response = try await transport.send(HTTPRequest(.get, url))
      guard response.status == .ok else { throw BenchError("the server responded with \(response.status)") }
      return try await response.body.collect().count
    }
  }
}

/// Runs a typed task with a `Server` and a `TaskManager` with default settings.
struct TaskScenario: Scenario {
  struct Widget: TaskPayload {
    let id: Int
    let name: String
    let price: Double
    let tags: [String]
    let active: Bool
  }

  struct GetWidget: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    let server: Server
    let path: String
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let log = try options.log.map { try HTTPLog(in: $0, limit: options.requests * 2) }
    let spans = options.spans.map { file in
      SpanRecorder(to: file == "-" ? .spans { _ in } : .file(URL(fileURLWithPath: file)))
    }
    let server = try options.server(recorders: log.map { [$0] } ?? [], observers: spans.map { [$0] } ?? [])
    let task = GetWidget(server: server, path: options.url.path)
    let result = try await BenchResult.measure(
      "task", options,
      end: {
        await log?.finish()
        await spans?.flush()
      }
    ) {
      let widget = try await task.download()
      guard widget.active else { throw BenchError("the server sent the wrong widget") }
      return 1
    }
    guard spans?.dropped ?? 0 == 0 else { throw BenchError("\(spans?.dropped ?? 0) spans were dropped") }
    return result
  }
}

/// A streamed download whose chunks are counted and discarded.
struct StreamScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let server = try options.server()
    let task = URLTask(options.url).on(server).timeout(.seconds(600))
    return try await BenchResult.measure("stream", options) {
      var count = 0
      for try await chunk in try await task.stream().body { count += chunk.count }
      return count
    }
  }
}

/// A download to a file.
struct FileScenario: Scenario {
  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let server = try options.server()
    let task = URLTask(options.url).on(server).timeout(.seconds(600))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await BenchResult.measure("file", options) {
      let file = folder.appendingPathComponent(UUID().uuidString)
      try await task.download(to: file)
      let size = file.byteCount
      try FileManager.default.removeItem(at: file)
      return size
    }
  }
}

/// A streamed upload of a file.
struct UploadScenario: Scenario {
  struct PostFile: ServerPOSTTask, FileUploadingTask {
    let server: Server
    let url: URL
    let uploadFile: URL
    let timeout: Duration = .seconds(600)
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let file = options.file else { throw BenchError("upload needs --file") }
    let size = file.byteCount
    let task = PostFile(server: try options.server(), url: options.url, uploadFile: file)
    return try await BenchResult.measure("upload", options) {
      try await task.upload()
      return size
    }
  }
}

extension BenchOptions {
  /// Returns a server at the URL's origin with default settings and enough slots for the concurrency.
  func server(recorders: [any CallRecorder] = [], observers: [any TaskObserver] = []) throws -> Server {
    guard let remote = URL(string: "/", relativeTo: url)?.absoluteURL else { throw BenchError("\(url) has no origin") }
    var configuration = ServerConfiguration()
    (configuration.recorders, configuration.observers) = (recorders, observers)
    return Server(
      Remote(remote), configuration: configuration, transport: try transport(),
      manager: TaskManager(limits: ThrottleLimits(perHost: max(10, concurrency))))
  }
}
