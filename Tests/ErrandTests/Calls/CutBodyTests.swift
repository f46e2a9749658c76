import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A failed, truncated or cancelled body is never cached or returned as complete.
@Suite(.timeLimit(.minutes(1))) struct CutBodyTests {
  private static let fresh: HTTPHeaders = [.cacheControl: "max-age=600", .contentType: "text/plain"]

  // MARK: Stubbed bodies

  /// Creates a shop whose first response has `body`. Later responses have the text `whole`.
  private func shop(
    _ body: any HTTPBodySource, then whole: String, status: HTTPStatus = .ok,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> CachedShop {
    CachedShop(configure: configure) { number, request in
      number == 1
        ? HTTPResponse(status, url: request.url, headers: Self.fresh, body: HTTPResponseBody(body))
        : .text(whole, Self.fresh, status: status, for: request)
    }
  }

  @Test func `does not cache a truncated 404`() async throws {
    let shop = CachedShop { number, request in
      HTTPResponse(
        404, url: request.url, headers: Self.fresh,
        body: HTTPResponseBody(ScriptedBody(["hel", "lo"], number == 1 ? .fails : .ends)))
    }
    _ = await taskError { _ = try await shop.task().download() }
    let second = try await shop.get(shop.task().accepting(.all))
    #expect(shop.sentCount == 2, "\(second)")
  }

  @Test(arguments: [4, 5]) func `caches an error body only if it fits maximumErrorBodySize`(limit: Int) async throws {
    let shop = CachedShop(configure: { $0.maximumErrorBodySize = limit }) { _, request in
      HTTPResponse(
        404, url: request.url, headers: Self.fresh, body: HTTPResponseBody(ScriptedBody(["hel", "lo"], .ends)))
    }
    for _ in 0..<2 { _ = await taskError { _ = try await shop.task().download() } }
    #expect(shop.sentCount == (limit == 5 ? 1 : 2))
  }

  @Test func `does not cache a truncated 200 response to a range request`() async throws {
    let shop = shop(ScriptedBody(["half"], .fails), then: "half and half")
    _ = await taskError { _ = try await shop.task().range(ByteRange(0..<3)).download() }
    let second = try await shop.get()
    #expect(second.text == "half and half", "\(second)")
  }

  @Test func `does not cache the body of a call that is cancelled before the body ends`() async throws {
    let body = ScriptedBody(["half"], .stalls)
    let shop = shop(body, then: "half and half")
    let call = Task { _ = try await shop.task().range(ByteRange(0..<3)).download() }
    await body.stalled.reached(1)
    call.cancel()
    _ = await call.result
    let second = try await shop.get()
    #expect(second.text == "half and half", "\(second)")
  }

  @Test func `networkFirst does not replace a cached response with an incomplete 404`() async throws {
    let body = ScriptedBody(["half"], .stalls)
    let shop = CachedShop { number, request in
      number == 1
        ? .text("good", Self.fresh, for: request)
        : HTTPResponse(404, url: request.url, headers: Self.fresh, body: HTTPResponseBody(body))
    }
    _ = try await shop.get()
    let call = Task { try await shop.get("widgets/7", .networkFirst(limit: .seconds(3))) }
    await body.stalled.reached(1)
    await shop.clock.pass(.seconds(3), sleepers: 1)
    #expect(try await call.value.text == "good")
    let later = await Task { try await shop.get(shop.task("widgets/7", .cacheOnly).accepting(.all)) }.result
    #expect((try? later.get())?.text == "good", "\(later)")
  }

  enum Verb: CaseIterable {
    case memory, file, stream
  }

  @Test(arguments: Verb.allCases) func `does not cache a 404 whose body stalls`(verb: Verb) async throws {
    let body = ScriptedBody(["half"], .stalls)
    let shop = shop(body, then: "half and half", status: 404) { $0.timeouts.idle = .seconds(4) }
    let call = Task {
      switch verb {
      case .memory: _ = try await shop.task().download()
      case .file: try await withFolder { _ = try await shop.task().download(to: $0.appendingPathComponent("file")) }
      case .stream: _ = try await shop.task().stream()
      }
    }
    await body.stalled.reached(1)
    if verb == .memory { call.cancel() } else { await shop.clock.pass(.seconds(60), sleepers: 1) }
    _ = await call.result
    let second = try await shop.get(shop.task().accepting(.all))
    #expect(second.text == "half and half", "\(second)")
  }

  /// A body whose first read waits until the reader is cancelled. After `cancel()`, the body is empty.
  private final class CancelledBody: HTTPBodySource {
    let reads = Counter()
    private let chunks = Shared<[Data]>([Data("whole".utf8)])
    private let isCancelled = Shared(false)

    func next() async throws -> Data? {
      reads.add()
      // As in a transfer, a cancelled reader receives an error, and a cancelled body yields no more data.
      if reads.count == 1 { try await CallClock(ManualClock()).sleep(for: .seconds(1)) }
      if isCancelled.withLock({ $0 }) { return nil }
      return chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func cancel() { isCancelled.withLock { $0 = true } }
  }

  @Test(arguments: [false, true]) func `does not cache a body if its call is cancelled during a read`(
    isDiscarded: Bool
  ) async throws {
    let body = CancelledBody()
    let shop = shop(body, then: "whole")
    let call = Task {
      if isDiscarded { _ = try await shop.task().run() } else { _ = try await shop.task().download() }
    }
    await body.reads.reached(1)
    call.cancel()
    _ = await call.result
    #expect(try await shop.get().text == "whole")
  }

  /// A body whose reader is cancelled just before the end.
  private final class LastMomentBody: HTTPBodySource {
    private let chunks = Shared<[Data]>([Data("whole".utf8)])

    func next() async throws -> Data? {
      if let chunk = chunks.withLock({ $0.popLast() }) { return chunk }
      withUnsafeCurrentTask { $0?.cancel() }
      return nil
    }
  }

  @Test func `does not cache a file download that is cancelled just before its body ends`() async throws {
    let shop = shop(LastMomentBody(), then: "whole")
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let result = await Task { try await shop.task().download(to: file) }.result
      #expect((try? result.get()) == nil)
    }
    let second = try await shop.get()
    #expect(second.text == "whole", "\(second)")
  }

  // MARK: Sockets

  private static let chunkedFields = "Transfer-Encoding: chunked\r\nCache-Control: max-age=600\r\n\r\n"

  /// A response that ends before its body is complete.
  enum Truncation: CaseIterable {
    case chunked, length, range

    var answer: MockAnswer {
      let text =
        switch self {
        case .chunked: "HTTP/1.1 404 Not Found\r\n\(CutBodyTests.chunkedFields)5\r\nhello\r\n"
        case .length: "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\nCache-Control: max-age=600\r\n\r\nhello"
        case .range: "HTTP/1.1 200 OK\r\n\(CutBodyTests.chunkedFields)5\r\nhello\r\n"
        }
      return .raw(Data(text.utf8))
    }
  }

  @Test(arguments: Truncation.allCases) func `does not cache a response that the connection truncates`(
    truncation: Truncation
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.enqueue(truncation.answer)
    mock.route(.get, "/widgets/7", answer: .text("hello, world"))
    let task = CachedTask(path: "widgets/7").on(mock.client { $0.cache = MemoryCache() })
    _ = await taskError {
      _ = try await (truncation == .range ? task.range(ByteRange(0..<3)) : task).download()
    }
    let second = try await task.accepting(.all).response()
    #expect(second.text == "hello, world", "\(second.text) \(second.headers[.cacheStatus] ?? "")")
  }

  enum Failure: CaseIterable {
    case tooLarge, truncated, truncatedDiscarded
  }

  @Test(arguments: Failure.allCases) func `does not cache a 200 whose body is truncated or too large`(
    failure: Failure
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    let chunks = "5\r\nhello\r\n5\r\nhello\r\n" + (failure == .tooLarge ? "5\r\nhello\r\n0\r\n\r\n" : "")
    mock.enqueue(.raw(Data("HTTP/1.1 200 OK\r\n\(Self.chunkedFields)\(chunks)".utf8)))
    mock.route(.get, "/widgets/7", answer: .text("new"))
    let server = mock.client {
      $0.cache = MemoryCache()
      if failure == .tooLarge { $0.maximumBodySize = 8 }
    }
    let task = CachedTask(path: "widgets/7").on(server)
    let error = await taskError {
      if failure == .truncatedDiscarded { _ = try await task.run() } else { _ = try await task.download() }
    }
    #expect(error != nil)
    let second = try await task.response()
    #expect(second.text == "new", "\(second.headers)")
  }

  @Test(arguments: [2_000, 20_000, 100_000], [false, true])
  func `a call fails if the body exceeds maximumBodySize, with or without a cache`(
    size: Int, isCached: Bool
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.route(
      .get, "/widgets/7", answer: .text(String(repeating: "x", count: size)).header(.cacheControl, "max-age=600"))
    let server = mock.client {
      $0.maximumBodySize = 1000
      if isCached { $0.cache = MemoryCache() }
    }
    for _ in 0..<10 {
      let result = await Task { try await CachedTask(path: "widgets/7").on(server).caching(.reload).download() }.result
      if case .success(let text) = result { Issue.record("success with \(text.utf8.count) of \(size) bytes") }
    }
  }

  @Test(arguments: [2_000, 20_000, 100_000])
  func `a background revalidation whose body exceeds maximumBodySize removes the older response`(
    size: Int
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.enqueue(.text("good").header(.cacheControl, "max-age=0, stale-while-revalidate=600"))
    mock.route(
      .get, "/widgets/7", answer: .text(String(repeating: "x", count: size)).header(.cacheControl, "max-age=600"))
    let server = mock.client {
      $0.cache = MemoryCache()
      $0.maximumBodySize = 1000
    }
    let task = CachedTask(path: "widgets/7").on(server)
    #expect(try await task.download() == "good")
    try await Task.sleep(for: .milliseconds(1100))  // the cached response becomes stale
    #expect(try await task.download() == "good")
    #expect(await eventually { mock.requestCount == 2 && server.manager.callCount == 0 })
    #expect(await taskError { _ = try await task.caching(.cacheOnly).stream() }?.code == .notCached)
  }
}
