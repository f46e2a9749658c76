import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EmbeddedShops {
  var recordingSteps: [TourStep] { [recording] }

  private var recording: TourStep {
    TourStep(
      "A recording stores every exchange in a file",
      #"""
      let folder = try await shop.manager.recordTaskPath()
      _ = try await GetWidget(id: 7).send()
      _ = try await AddWidget(uploadPayload: NewWidget(name: "Gear", price: 8)).send()
      await shop.manager.endTaskPathRecording()
      """#
    ) { page in
      let folder = try await shop.manager.recordTaskPath()
      _ = try await GetWidget(id: 7).send()
      _ = try await AddWidget(uploadPayload: NewWidget(name: "Gear", price: 8)).send()
      await shop.manager.endTaskPathRecording()
      _ = try await GetWidget(id: 8).send()
      let files = try recordings(in: folder)
      page.say(folder.path)
      for file in files { page.line("      \(file)") }
      try check(files == ["0001. GET Widget.txt", "0002. POST AddWidget.txt"], "the recordings are \(files)")
    }
  }
}

/// Returns the sorted names of the recordings in a folder.
func recordings(in folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }.sorted()
}
