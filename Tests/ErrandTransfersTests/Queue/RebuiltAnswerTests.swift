import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Responses that a step creates or copies.
@Suite(.timeLimit(.minutes(1))) struct RebuiltAnswerTests {
  /// Returns a copy of the response.
  private struct Rebuilding: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
    }
  }

  private struct Note: PersistentTask, ServerPOSTTask {
    static let typeName = "note"
    var path: String { "notes" }
  }

  @Test(arguments: [nil, true, false])
  func `keeps a redirected task even if a step rebuilds the response`(isPerCall: Bool?) async throws {
    try await withFolder { folder in
      let stub = StubServer(
        .status(302, [.location: "/sign-in"]), .status(.ok),
        configure: {
          if isPerCall == true { $0.perCallSteps = [Rebuilding()] }
          if isPerCall == false { $0.perAttemptSteps = [Rebuilding()] }
        })
      let queue = try OfflineQueue(in: folder, on: stub.server, types: [Note.self])
      _ = try await queue.add(Note())
      let reports = try await queue.deliver()
      #expect(reports.map(\.hasLeft) == [false], "the note is lost: \(reports)")
    }
  }
}
