import Errand
import Foundation

/// A task that hangs at the given stage.
struct StuckTask: PayloadDownloadingTask {
  typealias DownloadPayload = Data
  let path: String
  let moment: StuckCall.Moment
  let wait: @Sendable () async throws -> Void
  let paused: AsyncStream<Void>

  func willStart() async {
    switch moment {
    case .willStart: try? await wait()
    case .pause: for await _ in paused { break }
    default: break
    }
  }
  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    switch moment {
    case .uploadBody: try await wait()
    case .sentBody: return .stream { SlowChunks(wait: wait) }
    default: break
    }
    return .empty
  }
  func didStart(_ request: HTTPRequest) async { if moment == .didStart { try? await wait() } }
  func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {
    if moment == .willRetry { try? await wait() }
  }
  func postProcess(response: HTTPResponse) async throws { if moment == .postProcess { try await wait() } }
}

private struct SlowChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
  let wait: @Sendable () async throws -> Void
  func makeAsyncIterator() -> SlowChunks { self }
  func next() async throws -> Data? {
    try await wait()
    return nil
  }
}
