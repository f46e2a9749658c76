import Errand
import ErrandTesting
import Foundation
import Testing

/// The recording style of a task and the redaction settings of its server.
@Suite(.timeLimit(.minutes(1))) struct RecordingStyleTests {
  private struct Upload: ServerPOSTTask, DataUploadingTask {
    let path = "somewhere"
    let query: HTTPQuery = ["pin": "1234"]
    let headers: HTTPHeaders = ["X-Mine": "beside", "X-Pin": "1234"]
    let uploadData = Data("pin=1234 going up".utf8)
    let uploadType = MediaType.plainText
  }

  /// Returns the recording of a call and the index of its folder.
  private func recorded(_ style: RecordingStyle, _ configure: (inout ServerConfiguration) -> Void = { _ in })
    async throws -> (text: String, index: String)
  {
    try await withFolder { folder in
      let stub = StubServer(.data(Data("pin=1234 coming down".utf8), .plainText), configure: configure)
      try await stub.server.recordTaskPath(to: folder)
      try await Upload().on(stub.server).recording(style).run()
      await stub.server.endTaskPathRecording()
      func read(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      }
      return (try read("0001. POST Upload.txt"), try read("index.json"))
    }
  }

  @Test(arguments: 0..<16) func `records exactly the parts that the style includes`(parts: Int) async throws {
    let style = RecordingStyle(rawValue: parts)
    let text = try await recorded(style).text
    for (part, words) in [
      (RecordingStyle.url, "shop.test/somewhere"), (.headers, "beside"), (.upload, "going up"),
      (.download, "coming down"),
    ] {
      #expect(text.contains(words) == style.contains(part), "\(words) in:\n\(text)")
    }
  }

  @Test func `redacted values appear in neither the recording nor the index`() async throws {
    let plain = try await recorded(.full)
    #expect(
      plain.text.count { $0 == "4" } >= 4 && plain.index.contains("1234"),
      "without a custom redaction, the values are recorded")
    let hidden = try await recorded(.full) { $0.redaction.fields.insert("pin") }
    #expect(!hidden.text.contains("1234") && !hidden.index.contains("1234"), "\(hidden)")
    let parts = try await recorded(.full) { $0.redaction.fragments.insert("pi") }
    #expect(!parts.text.contains("1234") && !parts.index.contains("1234"), "\(parts)")
  }
}
