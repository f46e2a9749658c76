import Errand
import ErrandTesting
import Foundation

struct Widget: TaskPayload, Equatable {
  var id = 7
  var name = "Sprocket"
}

struct GetWidget: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  var id = 7
  var path: String { "widgets/\(id)" }
}

struct AddWidget: ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  var uploadPayload = Widget()
  var path: String { "widgets" }
}

struct PlainTask: ServerTask { var path = "plain" }

/// A server with the default transport, connected to a mock server.
struct Shop {
  let mock: MockServer
  let server: Server

  /// Creates a shop with widgets by ID. Nothing is logged.
  init(limits: ThrottleLimits = ThrottleLimits(), configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
    mock = try MockServer()
    mock.route(.get, "/widgets/:id") { .json(#"{"id":\#($0.parameters["id"] ?? "0"),"name":"Sprocket"}"#) }
    mock.route(.post, "/widgets") { request in
      MockAnswer.json(String(decoding: request.body, as: UTF8.self), status: .created)
    }
    mock.route("/echo/*") { .data($0.body, type: .octetStream) }
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configure(&configuration)
    server = Server(Remote(mock.url), configuration: configuration, manager: TaskManager(limits: limits))
  }

  func url(_ path: String) -> URL { mock.url.appendingPathComponent(path) }

  /// Whether no call is running or waiting.
  var isQuiet: Bool {
    server.manager.runningCount == 0 && server.manager.waitingCount == 0 && server.manager.callCount == 0
  }
}

/// Runs `body` with a temporary folder.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-journeys-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
  return try await body(folder)
}

/// Returns the sorted file names in a folder, including hidden files.
func files(in folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}
