import ErrandTesting
import Foundation

@testable import Errand
@testable import ErrandTransfers

/// A server for an offline queue. The body of a request determines the response.
final class QueueRemote: Sendable {
  typealias Answer = @Sendable (HTTPRequest, String) async throws -> HTTPResponse
  let sent = Shared([String]())
  let clock = ManualClock()
  let server: Server

  init(_ answer: @escaping Answer) {
    let sent = sent
    let transport = StubTransport { request in
      let bytes = Shared(Data())
      try await request.body.forEachChunk { chunk in bytes.withLock { $0.append(chunk) } }
      let body = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
      sent.withLock { $0.append(body) }
      return try await answer(request, body)
    }
    server = Server(
      "https://shop.test", transport: transport,
      manager: TaskManager(clock: CallClock(clock)), environment: [:])
  }

  convenience init(status: @escaping @Sendable (String) -> HTTPStatus = { _ in .created }) {
    self.init { request, body in HTTPResponse(status(body), url: request.url) }
  }

  var bodies: [String] { sent.withLock { $0 } }

  func queue(_ folder: URL) throws -> OfflineQueue {
    try OfflineQueue(in: folder, on: server, types: [Queued.Note.self, Queued.Photo.self, Queued.Ping.self])
  }
}

/// The tasks that the queue tests use.
enum Queued {
  struct Note: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
    static let typeName = "note"
    var uploadPayload: String
    var path: String { "notes" }
    var retryPolicy: RetryPolicy { .never }
  }

  struct Payment: PersistentTask, ServerPOSTTask {
    static let typeName = "payment"
    var path: String { "payments" }
    var retryPolicy: RetryPolicy { .never }
  }

  struct Ping: PersistentTask, ServerGETTask {
    static let typeName = "ping"
    var path: String { "ping" }
  }

  struct Photo: PersistentTask, ServerPOSTTask {
    static let typeName = "photo"
    var name: String
    var isOnce = false
    var path: String { "photos" }
    var idempotency: Idempotency { isOnce ? .neverRepeat : .automatic }
    var retryPolicy: RetryPolicy { .never }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      try MultipartForm([.text("name", name)]).body()
    }
  }

  struct Report: PersistentTask, ServerPOSTTask {
    static let typeName = "report"
    var path: String { "reports" }
    var retryPolicy: RetryPolicy { .never }
    var acceptedStatuses: AcceptedStatuses { .any }
  }

  /// Returns the task files in the folder, in order.
  static func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".task") }.sorted()
  }
}
