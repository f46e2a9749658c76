import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PlacedStepsTests {
  private struct Mark: PerCallStep, PerAttemptStep {
    let name: String
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers[.custom] = (request.headers[.custom] ?? "") + name
      return try await next(request)
    }
  }

  private struct Unnamed: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  @Test func `adds steps of either kind before or after a named step`() async throws {
    let seen = Shared("")
    let shop = VirtualShop { _, request, _ in
      seen.withLock { $0 = request.headers[.custom] ?? "" }
      return .ok(request)
    }
    try await shop.server.update { configuration in
      configuration.perCallSteps = [Mark(name: "b")]
      configuration.perAttemptSteps = [Mark(name: "e")]
      try configuration.addStep(Mark(name: "a") as any PerCallStep, before: "b")
      try configuration.addStep(Mark(name: "c") as any PerCallStep, after: "b")
      try configuration.addStep(Mark(name: "d") as any PerAttemptStep, before: "e")
      try configuration.addStep(Mark(name: "f") as any PerAttemptStep, after: "e")
    }
    try await shop.task().run()
    #expect(seen.withLock { $0 } == "abcdef")
  }

  @Test func `a step's name defaults to its type's name`() throws {
    var configuration = ServerConfiguration()
    configuration.perCallSteps = [Unnamed()]
    try configuration.addStep(Mark(name: "mark") as any PerCallStep, after: "Unnamed")
    #expect(configuration.perCallSteps.map(\.name) == ["Unnamed", "mark"])
  }

  @Test func `throws .unknownStep and lists the existing step names`() {
    var configuration = ServerConfiguration()
    configuration.perCallSteps = [Mark(name: "mark")]
    let error = #expect(throws: TaskError.self) { try configuration.addStep(Unnamed(), before: "marks") }
    #expect(error?.code == .unknownStep && error?.reason.contains("known steps: mark") == true)
    #expect(configuration.perCallSteps.count == 1)
  }
}

@Suite(.timeLimit(.minutes(1))) struct RecoveryTests {
  @Test func `recovers from an unreachable host after all attempts have failed`() async throws {
    let shop = VirtualShop(
      .autoAdvancing,
      configure: { $0.perCallSteps = [Recovery(from: .offline) { request, _ in .json("[1]", for: request) }] },
      answer: { _, _, _ in throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) })
    #expect(try await shop.task().downloadData() == Data("[1]".utf8))
    #expect(shop.sentCount == 3)
  }

  @Test func `a recovery ignores other errors and can throw its own error`() async throws {
    struct Slow: Error {}
    let shop = VirtualShop(
      .autoAdvancing,
      configure: {
        $0.perCallSteps = [
          Recovery(from: .offline) { _, error in throw error }, Recovery(from: .timeout) { _, _ in throw Slow() },
        ]
      },
      answer: { number, request, _ in
        if request.method == .get { throw TaskError.timeout(.idle, after: .seconds(1), phase: .receiving) }
        throw TaskError(.badResponse, "no HTTP", phase: .awaitingResponse)
      })
    await #expect(throws: Slow.self) { try await shop.task().run() }
    #expect(await taskError { try await shop.task(method: .post).run() }?.code == .badResponse)
  }
}

@Suite(.timeLimit(.minutes(1))) struct VerificationTests {
  struct Unsigned: Error {}

  struct Signed: ServerTask {
    let server: Server
    func verify(_ response: HTTPResponse) throws {
      if response.headers["X-Signed"] == nil { throw Unsigned() }
    }
  }

  private func make(signed: Bool, status: HTTPStatus = .ok) -> VirtualShop {
    VirtualShop { _, request, _ in .json("[]", status: status, headers: signed ? ["X-Signed": "1"] : [:], for: request)
    }
  }

  @Test func `a call fails if the task's or the server's verification throws`() async throws {
    try await Signed(server: make(signed: true).server).run()
    await #expect(throws: Unsigned.self) { try await Signed(server: make(signed: false).server).run() }
    let shop = make(signed: true)
    await shop.server.update { $0.verify = { _, _ in throw Unsigned() } }
    await #expect(throws: Unsigned.self) { try await shop.task().run() }
    await #expect(throws: Unsigned.self) { try await shop.task().stream() }
    #expect(shop.manager.runningCount == 0 && shop.sentCount == 2)
    await shop.events.balanced()
  }

  @Test func `checks the status before verifying the response`() async throws {
    let shop = make(signed: false, status: .notFound)
    #expect(await taskError { try await Signed(server: shop.server).run() }?.code == .badStatus)
  }

  @Test func `does not replace a file with an unverified response`() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
    try Data("old".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // a leftover file is harmless
    await #expect(throws: Unsigned.self) { try await Signed(server: make(signed: false).server).download(to: file) }
    #expect(try Data(contentsOf: file) == Data("old".utf8))
    try await Signed(server: make(signed: true).server).download(to: file)
    #expect(try Data(contentsOf: file) == Data("[]".utf8))
  }
}

extension HTTPHeaderName {
  fileprivate static let custom = HTTPHeaderName("X-Mark")
}
