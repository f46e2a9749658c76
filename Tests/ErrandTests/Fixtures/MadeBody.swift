import Errand
import ErrandTesting
import Foundation

/// An upload whose body is produced while it is sent.
struct MadeBody: ServerPOSTTask {
  var server: Server
  let path = "outer"
  let make: @Sendable () async throws -> Data

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .stream { [make] in
      let isMade = Shared(false)
      return AsyncThrowingStream<Data, any Error>(unfolding: {
        if isMade.withLock({ $0 }) { return nil }
        isMade.withLock { $0 = true }
        return try await make()
      })
    }
  }
}
