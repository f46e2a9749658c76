import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// The timeouts that an upload passes to the transport.
@Suite(.timeLimit(.minutes(1))) struct UploadTimeoutTests {
  @Test func `a chunk uploaded from memory has the timeouts of a file upload`() async throws {
    let reported = Shared<[Timeouts]>([])
    let transport = StubTransport { request in
      guard request.method == .patch else {
        return .status(.created, headers: [.location: "/files/1"], for: request)
      }
      reported.withLock { $0.append(request.options.timeouts) }
      return .status(.noContent, headers: ["Upload-Offset": "3"], for: request)
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let task = AddWidget().on(server).timeout(.seconds(7))
    try await ResumableUpload(named: "a", length: 3, with: task, by: .tus) { _, _ in Data("abc".utf8) }.run()
    let limits = try #require(reported.withLock { $0.first })
    #expect(limits.attempt == nil && limits.idle == .seconds(7) && limits.firstByte == .seconds(7))
  }
}
