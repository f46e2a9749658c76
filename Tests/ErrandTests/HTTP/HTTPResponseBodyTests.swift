import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A body that was collected and put back.
@Suite struct HTTPResponseBodyTests {
  /// Pieces, and then an error; says when it was cancelled, and when it was let go.
  private final class Source: HTTPBodySource {
    private let pieces: Shared<[Data]>
    let cancels = Shared(0)
    private let gone: Shared<Bool>

    init(_ pieces: [String], gone: Shared<Bool> = Shared(false)) {
      self.pieces = Shared(pieces.map { Data($0.utf8) })
      self.gone = gone
    }

    deinit { gone.withLock { $0 = true } }

    func next() async throws -> Data? {
      let piece = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let piece else { throw CancellationError() }
      return piece
    }

    func cancel() { cancels.withLock { $0 += 1 } }
    var trailers: HTTPHeaders { ["Digest": "a"] }
    var timings: TransferTimings? { nil }
  }

  private func text(_ body: HTTPResponseBody) async throws -> String {
    var text = ""
    for try await chunk in body { text += String(decoding: chunk, as: UTF8.self) }
    return text
  }

  @Test(arguments: ["", "first"])
  func `what was put back is the whole of it, wherever the source stood`(kept: String) async throws {
    let read = HTTPResponseBody(Source(["first", "second"]))
    #expect(try await read.next() == Data("first".utf8))
    read.cancel()
    read.refill(Data(kept.utf8))
    #expect(read.inMemory == Data(kept.utf8))
    #expect(try await text(read) == kept)
    let collected = HTTPResponseBody(Source(["first"]))
    collected.refill(Data(kept.utf8))
    #expect(try await collected.collect() == Data(kept.utf8))
    #expect(try await collected.next() == nil)
  }

  @Test func `putting it back lets go of the source, whose trailers stay`() async throws {
    let gone = Shared(false)
    let body = HTTPResponseBody(Source(["first"], gone: gone))
    #expect(body.inMemory == nil && !gone.withLock { $0 })
    body.refill(Data("first".utf8))
    #expect(gone.withLock { $0 })
    #expect(body.trailers == ["Digest": "a"] && body.timings == nil)
  }

  @Test func `a step reads what errors keep of a refused body, and no more`() async throws {
    struct Reader: PerCallStep {
      let seen: Shared<String>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        seen.withLock { $0 = text }
        return response
      }
    }
    let seen = Shared("")
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.maximumErrorBodySize = 7
    configuration.retryPolicy = .never
    configuration.perCallSteps = [Reader(seen: seen)]
    let transport = StubTransport { request in
      HTTPResponse(.badRequest, url: request.url, body: HTTPResponseBody(Source(["first", "second", "third"])))
    }
    let server = Server(
      remote: "https://shop.test", configuration: configuration, transport: transport, manager: TaskManager())
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
    #expect(error?.code == .badStatus && seen.withLock { $0 } == "firstse")
  }
}
