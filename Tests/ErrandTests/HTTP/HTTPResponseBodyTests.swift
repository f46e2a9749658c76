import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Streaming, collecting, cancelling and rereading response bodies.
@Suite(.timeLimit(.minutes(1))) struct HTTPResponseBodyTests {
  /// Yields pieces, then ends or throws. Records cancellation and deallocation.
  private final class Source: HTTPBodySource {
    private let pieces: Shared<[Data]>
    let cancels = Shared(0)
    private let gone: Shared<Bool>
    private let isWhole: Bool

    init(_ pieces: [String], isWhole: Bool = false, gone: Shared<Bool> = Shared(false)) {
      self.isWhole = isWhole
      self.pieces = Shared(pieces.map { Data($0.utf8) })
      self.gone = gone
    }

    deinit { gone.withLock { $0 = true } }

    func next() async throws -> Data? {
      let piece = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard piece != nil || isWhole else { throw CancellationError() }
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

  @Test func `a collected body can be read again and keeps its trailers after its source is released`() async throws {
    let gone = Shared(false)
    let body = HTTPResponseBody(Source(["first", "second"], isWhole: true, gone: gone))
    #expect(!body.isInMemory && !gone.withLock { $0 })
    #expect(try await body.gather() == Data("firstsecond".utf8))
    #expect(body.isInMemory && gone.withLock { $0 })
    #expect(body.trailers == ["Digest": "a"] && body.timings == nil)
    for _ in 0..<2 { #expect(try await text(body) == "firstsecond") }
  }

  @Test func `collecting a body that exceeds the limit cancels its source`() async throws {
    let source = Source(["first", "second"], isWhole: true)
    let body = HTTPResponseBody(source)
    await #expect(throws: HTTPBodyLimitError.self) { try await body.collect(upTo: 5) }
    #expect(source.cancels.withLock { $0 } > 0)
    withExtendedLifetime(body) {}
  }

  /// Ends normally when it is cancelled.
  private final class PoliteSource: HTTPBodySource {
    let reading = Gate()
    private let cancelled = Gate()
    private let count = Shared(0)

    func next() async throws -> Data? {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 { return Data("first".utf8) }
      reading.open()
      await cancelled.wait()
      return nil
    }

    func cancel() { cancelled.open() }
  }

  private final class File: FileBody {
    private let source: any HTTPBodySource

    init(_ source: any HTTPBodySource) { self.source = source }

    func reader() -> any HTTPBodySource { source }
  }

  @Test(arguments: [false, true], [false, true])
  func `a failed body throws even if its cancelled source ends normally`(collects: Bool, isFile: Bool) async throws {
    let source = PoliteSource()
    let body = isFile ? HTTPResponseBody(File(source)) : HTTPResponseBody(source)
    let reader = Task {
      if collects { return try await body.collect() }
      return try await body.reduce(into: Data()) { $0 += $1 }
    }
    await source.reading.wait()
    body.fail(HTTPBodyLimitError(limit: 1))
    await #expect(throws: HTTPBodyLimitError.self) { try await reader.value }
  }

  @Test(arguments: [false, true])
  func `a streamed body allows only one reader, and that reader gets the entire body`(collects: Bool) async throws {
    let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let body = HTTPResponseBody(StreamSource(stream))
    let reader = Task { try await body.reduce(into: Data()) { $0 += $1 } }
    #expect(await eventually { !body.isWhole }, "the reader waits for the first chunk")
    await #expect(throws: HTTPBodyConsumedError.self) {
      if collects { _ = try await body.collect() } else { for try await _ in body {} }
    }
    continuation.yield(Data("first".utf8))
    continuation.yield(Data("second".utf8))
    continuation.finish()
    #expect(try await reader.value == Data("firstsecond".utf8))
    await #expect(throws: HTTPBodyConsumedError.self) { try await body.collect() }
  }

  @Test func `a stream that ended without a chunk can be read again`() async throws {
    let body = HTTPResponseBody(Source([], isWhole: true))
    for _ in 0..<2 {
      #expect(try await text(body) == "")
      #expect(try await body.collect() == Data())
    }
  }

  @Test(arguments: [false, true])
  func `a cancelled reader throws even if the body's source ends normally`(collects: Bool) async throws {
    let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    continuation.yield(Data("first".utf8))
    let body = HTTPResponseBody(StreamSource(stream))
    let reader = Task {
      if collects { return try await body.collect() }
      return try await body.reduce(into: Data()) { $0 += $1 }
    }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(!body.isComplete)
    withExtendedLifetime(continuation) {}
  }

  @Test func `reading a body whose loop was left early throws, even if its source has more data`() async throws {
    let body = HTTPResponseBody(Source(["first", "second"], isWhole: true))
    for try await _ in body { break }
    await #expect(throws: HTTPBodyConsumedError.self) { try await body.collect() }
    await #expect(throws: HTTPBodyConsumedError.self) { try await body.next() }
  }

  @Test func `cancelling a file body does not interrupt its reader`() async throws {
    let file = File(Source(["first", "second"], isWhole: true))
    let body = HTTPResponseBody(file)
    let reader = body.makeAsyncIterator()
    #expect(try await reader.next() == Data("first".utf8))
    body.cancel()
    #expect(try await reader.next() == Data("second".utf8))
    #expect(try await reader.next() == nil)
  }

  @Test func `a body whose loop was left early can still fail`() async throws {
    let body = HTTPResponseBody(Source(["first", "second"], isWhole: true))
    for try await _ in body { break }
    body.fail(HTTPBodyLimitError(limit: 1))
    #expect(body.failure is HTTPBodyLimitError)
    await #expect(throws: HTTPBodyLimitError.self) { try await body.next() }
  }

  @Test func `a complete body that fails cannot be read again`() async throws {
    let body = HTTPResponseBody(Source(["first"], isWhole: true))
    #expect(try await body.collect() == Data("first".utf8))
    body.fail(HTTPBodyLimitError(limit: 1))
    #expect(body.failure is HTTPBodyLimitError)
    await #expect(throws: HTTPBodyLimitError.self) { try await body.next() }
  }

  @Test func `reading a body after leaving its loop throws HTTPBodyConsumedError, not CancellationError`() async throws
  {
    let body = HTTPResponseBody(Source(["first"]))
    for try await _ in body { break }
    let error = await #expect(throws: HTTPBodyConsumedError.self) { for try await _ in body {} }
    #expect(error.map { TaskError.ofTransfer($0) as? TaskError }??.code == .bodyConsumed)
    let cancelled = HTTPResponseBody(Source(["first"]))
    for try await _ in cancelled { break }
    cancelled.fail(CancellationError())
    await #expect(throws: CancellationError.self) { try await cancelled.next() }
    let inMemory = HTTPResponseBody(Data("first".utf8))
    for try await _ in inMemory { break }
    #expect(try await inMemory.collect() == Data("first".utf8))
    let own = HTTPResponseBody(Source([]))
    own.cancel()
    await #expect(throws: CancellationError.self) { try await own.next() }
  }

  @Test func `runs end handlers in order, including handlers added during and after the end`() {
    let body = HTTPResponseBody()
    let order = Shared<[String]>([])
    body.onEnd { _, _ in
      body.onEnd { ending, _ in order.withLock { $0.append("meanwhile, \(ending)") } }
      order.withLock { $0.append("first") }
    }
    body.onEnd { _, _ in order.withLock { $0.append("second") } }
    body.cancel()
    body.onEnd { _, _ in order.withLock { $0.append("afterwards") } }
    #expect(order.withLock { $0 } == ["first", "second", "meanwhile, dropped", "afterwards"])
  }

  @Test func `collects the rest of a body up to the limit`() async throws {
    let body = HTTPResponseBody(Source(["first", "second"], isWhole: true))
    #expect(try await body.next() == Data("first".utf8))
    await #expect(throws: HTTPBodyConsumedError.self) { try await body.gather() }
    #expect(try await body.collect() == Data("second".utf8))
    await #expect(throws: HTTPBodyLimitError.self) {
      try await HTTPResponseBody(Source(["first"], isWhole: true)).gather(upTo: 4)
    }
  }

  @Test func `a step can read an entire error body, and the error keeps the beginning of the body`() async throws {
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
      HTTPResponse(
        .badRequest, url: request.url, body: HTTPResponseBody(Source(["first", "second", "third"], isWhole: true)))
    }
    let server = Server(
      "https://shop.test", configuration: configuration, transport: transport, manager: TaskManager())
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
    #expect(error?.code == .badStatus && seen.withLock { $0 } == "firstsecondthird")
    #expect(error?.body == Data("firstse".utf8))
  }
}
