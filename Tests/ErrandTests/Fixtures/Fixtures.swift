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

/// A task that sets only its path.
struct PlainTask: ServerTask {
  var path = "plain"
  var query = HTTPQuery()
}

extension URL {
  /// Creates a URL from a literal.
  static func known(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/not-a-url") }

  /// Returns a unique URL in the temporary folder. The folder does not exist yet.
  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
  }
}

/// Runs `body` with a temporary folder.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let folder = URL.newFolder()
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }  // leftovers do not matter
  return try await body(folder)
}

/// Returns the sorted names of the files in a folder, including hidden files.
func files(in folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}
