import ErrandInspection
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct SpanLimitsTests {
  @Test func `the guide lists the default limits`() throws {
    let limits = SpanLimits()
    #expect(limits.waiting == 2048 && limits.batch == 512 && limits.delay == .seconds(5))
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let guide = package.appendingPathComponent("Sources/Errand/Errand.docc/TracesAndMetrics.md")
    let text = try String(contentsOf: guide, encoding: .utf8).split { $0.isWhitespace }.joined(separator: " ")
    #expect(text.contains("Up to 2,048 spans wait") && text.contains("batches of up to 512 after at most 5 seconds"))
  }
}
