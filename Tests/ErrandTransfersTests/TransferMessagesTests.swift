import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// The error messages of transfers.
@Suite(.timeLimit(.minutes(1))) struct TransferMessagesTests {
  @Test func `the description of an upload request hides the contents of its task`() {
    struct Upload: ServerPOSTTask {
      let hidden = "s3cret"
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .text("a") }
    }
    let plan = TaskPlan(Upload())
    let begin = UploadRequest(.post, headers: [:], content: .none)
    var own = plan
    own.task = UploadPart(plan, begin, to: .known("https://shop.test/s3cret"), .none, isTrusted: true)
    #expect(!own.describedTask(.standard).contains("s3cret"))
  }

  @Test func `an error does not include the attempt count of a nested transfer`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.status(503)) { $0.retryPolicy = .fixed(retries: 2, delay: .zero) }
      let server = stub.server
      await server.update { configuration in
        configuration.preflight = { task, _ in
          guard task is AddWidget else { return }
          try await ResumableDownload(GetWidget().on(server), to: folder.appendingPathComponent("file")).run()
        }
      }
      let alone = await taskError {
        try await ResumableDownload(GetWidget().on(server), to: folder.appendingPathComponent("file")).run()
      }
      #expect(alone.map { "\($0)".contains("after 3 attempts") } == true, "\(String(describing: alone))")
      let error = await taskError { try await AddWidget().on(server).upload() }
      #expect(error.map { "\($0)".contains("attempts") } == false, "\(String(describing: error))")
    }
  }
}
