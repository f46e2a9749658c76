import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Checks that the guide "Errors" lists every `TaskError` code and states whether the request was sent and is retried.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct DocumentedErrorsTests {
  private let rows: [String: [String]]

  init() throws {
    let rows = try DocumentedCode.rows(of: "Sources/Errand/Errand.docc/Errors.md").filter {
      $0.count == 5 && $0[0] != "Code"
    }
    self.rows = Dictionary(uniqueKeysWithValues: rows.map { ($0[0].filter { $0 != "`" }, $0) })
  }

  /// The codes declared in the source, by name.
  private var declared: [String] {
    get throws {
      let file = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errors/TaskError+Code.swift")
      return try DocumentedCode.lines(of: file).compactMap {
        $0.firstMatch(of: /= Code\(own: "(\w+)"\)/).map { String($0.1) }
      }
    }
  }

  @Test func `lists every error code and nothing else`() throws {
    let declared = try declared
    #expect(declared.count > 30)
    #expect(rows.keys.sorted() == declared.sorted())
  }

  @Test func `the retry column agrees with isRetryable`() throws {
    for name in try declared {
      let stated = rows[name]?[3]
      switch name {
      case "badStatus":
        let statuses = (100...599).map { HTTPStatus($0) }.filter { RetryableStatuses.standard.contains($0) }
        #expect(stated == statuses.map { "\($0.code)" }.joined(separator: ", "))
      case "timedOut":
        let timers: [Timeouts.Timer] = [.queue, .connect, .firstByte, .idle, .attempt, .call]
        let repeated = timers.filter { TaskError.timeout($0, after: .zero, phase: .waiting).isRetryable }
        #expect(stated == "yes" && repeated == [.connect, .firstByte, .idle, .attempt])
      default:
        #expect(stated == (TaskError(.init(name), "", phase: .waiting).isRetryable ? "yes" : "no"), "\(name)")
      }
    }
  }

  /// Tasks that fail before the request is sent, with the settings that make them fail.
  struct Refusal: Sendable, CustomStringConvertible {
    let description: String
    var remote: Remote = "https://shop.test"
    var configure: @Sendable (inout ServerConfiguration) -> Void = { _ in }
    var run: @Sendable (Server) async throws -> Void = { _ = try await PlainTask().on($0).run() }
  }

  private struct Unencodable: ServerPOSTTask, PayloadUploadingTask {
    var uploadPayload: Double { .nan }
  }

  static let refusals = [
    Refusal(description: "disabled", configure: { $0.disabled = true }),
    Refusal(description: "noRemote", remote: .none),
    Refusal(description: "badURL", remote: "https://shop test"),
    Refusal(description: "badLimit", run: { _ = try await PlainTask().on($0).timeout(.zero).run() }),
    Refusal(description: "insecureScheme", remote: "http://shop.test"),
    Refusal(description: "badRequest", run: { _ = try await PlainTask().on($0).header("X", "a\nb").run() }),
    Refusal(description: "encodingFailed", run: { _ = try await Unencodable().on($0).run() }),
    Refusal(
      description: "reentrantQueue",
      configure: { configuration in
        configuration.preflight = { task, _ in
          guard task is GetWidget else { return }
          try await PlainTask().on(task.server).serialQueue(.named("q")).run()
        }
      },
      run: { server in _ = try await Server.withDefault(server) { try await GetWidget().serialQueue(.named("q")).run() }
      }),
  ]

  @Test(arguments: refusals) func `an error whose code is documented as not sent has wasNotSent set`(
    _ refusal: Refusal
  )
    async throws
  {
    let stub = StubServer(.status(.ok), remote: refusal.remote, configure: refusal.configure)
    let error = try #require(await taskError { try await refusal.run(stub.server) })
    #expect(error.code.name == refusal.description && stub.requests.isEmpty)
    #expect(rows[error.code.name]?[2] == "no" && error.wasNotSent, "\(error)")
  }
}
