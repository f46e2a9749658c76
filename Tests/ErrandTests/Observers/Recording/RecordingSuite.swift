import Foundation

@testable import Errand

/// A suite that makes recordings and reads them back.
protocol RecordingSuite {}

extension RecordingSuite {
  func recording(_ name: String = "GET Widget", _ text: String = "text\n") -> Recording {
    Recording(
      text: text, name: name,
      entry: RecordingEntry(
        task: "GetWidget", method: "GET", outcome: "succeeded", startedAt: Date().formatted(RecordingEntry.dateFormat),
        seconds: 0, attempts: 1))
  }

  func recordings(in folder: URL) throws -> [String] { try files(in: folder).filter { $0.hasSuffix(".txt") } }

  func index(in folder: URL) throws -> [RecordingEntry] {
    try JSONDecoder().decode([RecordingEntry].self, from: Data(contentsOf: folder.appendingPathComponent("index.json")))
  }
}
