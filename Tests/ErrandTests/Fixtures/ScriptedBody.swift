import Errand
import ErrandTesting
import Foundation

/// A body that sends its chunks, then ends, fails or stalls until the reader is cancelled.
final class ScriptedBody: HTTPBodySource {
  enum End {
    case ends, fails, stalls
  }

  /// Counts the readers that wait at the end of a stalled body.
  let stalled = Counter()
  private let chunks: Shared<[Data]>
  private let end: End

  init(_ chunks: [String], _ end: End) {
    self.chunks = Shared(chunks.map { Data($0.utf8) })
    self.end = end
  }

  func next() async throws -> Data? {
    let chunk = chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let chunk { return chunk }
    switch end {
    case .ends: return nil
    case .fails: throw TaskError(.truncatedBody, "cut", phase: .receiving)
    case .stalls:
      stalled.add()
      try await CallClock(ManualClock()).sleep(for: .seconds(1))  // forever
      return nil
    }
  }
}
