import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Transfers and deliveries that wait for a serial queue that their caller holds.
@Suite(.timeLimit(.minutes(1))) struct HeldQueueTests {
  private struct Note: PersistentTask, ServerPOSTTask {
    static let typeName = "note"
    var path: String { "notes" }
    var serialQueue: SerialQueue { .named("sync") }
  }

  @Test(arguments: ["download", "upload", "delivery"])
  func `a transfer or delivery throws if it needs a serial queue that its caller holds`(way: String) async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      let server = stub.server
      let queue = try OfflineQueue(in: folder.appendingPathComponent("queue"), on: server, types: [Note.self])
      if way == "delivery" { _ = try await queue.add(Note()) }
      let outcomes = Shared<[QueueReport.Outcome]>([])
      await server.update { configuration in
        configuration.preflight = { task, _ in
          guard task is PlainTask else { return }
          let inner = GetWidget().on(server).serialQueue(.named("sync"))
          switch way {
          case "download": try await ResumableDownload(inner, to: folder.appendingPathComponent("file")).run()
          case "upload":
            let adding = AddWidget().on(server).serialQueue(.named("sync"))
            try await ResumableUpload(named: "a", length: 3, with: adding, by: .tus) { _, _ in Data("abc".utf8) }.run()
          default:
            for report in try await queue.deliver() { outcomes.withLock { $0.append(report.outcome) } }
          }
        }
      }
      let error = await taskError { try await PlainTask().on(server).serialQueue(.named("sync")).run() }
      if way == "delivery" {
        let inner = outcomes.withLock { $0.compactMap { $0.reentrantError } }
        #expect(inner.count == 1, "\(outcomes.withLock { $0 })")
      } else {
        #expect(error?.code == .reentrantQueue && stub.requests.isEmpty, "\(String(describing: error))")
      }
    }
  }
}

extension QueueReport.Outcome {
  /// Returns the error of a task that requests a queue that its caller already holds.
  fileprivate var reentrantError: TaskError? {
    let error: any Error
    switch self {
    case .failed(let failure): error = failure
    case .stays(let failure): error = failure
    default: return nil
    }
    return (error as? TaskError).flatMap { $0.code == .reentrantQueue ? $0 : nil }
  }
}
