import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// The tasks that can be downloaded with retries and ranges.
@Suite(.timeLimit(.minutes(1))) struct DownloadTaskTests {
  @Test func `refuses a .neverRepeat task before sending a request`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      let task = GetWidget().on(stub.server).idempotency(.neverRepeat)
      let download = ResumableDownload(task, to: folder.appendingPathComponent("file"))
      let error = await taskError { try await download.run() }
      #expect(error?.code == .badRequest && error?.wasNotSent == true && stub.requests.isEmpty)
      #expect(error?.reason.contains("GetWidget is .neverRepeat") == true, "\(String(describing: error))")
      #expect(error?.reason.contains("use download(to:)") == true)
      let left = try files(in: folder)
      #expect(left == [])
    }
  }
}
