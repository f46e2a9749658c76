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

/// A task that says nothing about itself but its path.
struct PlainTask: ServerTask {
  var path = "plain"
  var query = HTTPQuery()
}

extension URL {
  /// A URL that a test has written down.
  static func known(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/not-a-url") }

  /// A folder of its own below the temporary one; not made yet.
  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
  }
}

/// Runs `body` with a folder that is removed afterwards.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let folder = URL.newFolder()
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }  // what a test left in it is of no use
  return try await body(folder)
}

/// The names of the files in a folder, hidden ones included, in order.
func files(in folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}
