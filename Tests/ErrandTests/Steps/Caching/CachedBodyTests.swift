import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Bodies that each kind of call reads from or writes to a cache.
@Suite(.timeLimit(.minutes(1))) struct CachedBodyTests {
  enum Kind: CaseIterable, Sendable {
    case memory, disk
  }

  enum Verb: CaseIterable {
    case memory, file, stream, run

    func body(_ task: some ServerTask, _ file: URL) async throws -> Data {
      switch self {
      case .memory: return try await task.downloadData()
      case .file:
        try await task.download(to: file)
        return try Data(contentsOf: file)
      case .stream: return try await task.stream().body.collect()
      case .run: return try await task.run().body.collect()
      }
    }
  }

  private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) })

  private func withShop(
    _ kind: Kind, _ body: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
    _ test: (CachedShop, URL) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let cache: any CacheStore =
        kind == .memory ? MemoryCache() : try DiskCache(at: folder.appendingPathComponent("cache"))
      try await test(CachedShop(cache) { _, request in try await body(request) }, folder)
    }
  }

  @Test(arguments: Kind.allCases) func `every kind of call can store a response and use the cached one`(kind: Kind)
    async throws
  {
    let answer: @Sendable (HTTPRequest) -> HTTPResponse = {
      HTTPResponse(url: $0.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(Self.body))
    }
    try await withShop(kind, { answer($0) }) { shop, folder in
      let file = folder.appendingPathComponent("file")
      for (number, first) in Verb.allCases.enumerated() {
        let path = "widgets/\(number)"
        for verb in [first] + Verb.allCases {
          let isWhole = try await verb.body(shop.task(path), file) == Self.body
          #expect(isWhole, "\(verb) after \(first)")
        }
        #expect(shop.sentCount == number + 1)
      }
      await shop.events.balanced()  // a stream ends shortly after its body
      #expect(await eventually { shop.server.manager.callCount == 0 })
    }
  }

  /// A body that fails or ends after some chunks.
  private final class Pieces: HTTPBodySource {
    private let left: Lock<Int>
    private let error: (any Error)?
    init(_ count: Int, then error: (any Error)?) {
      left = Lock(count)
      self.error = error
    }
    func next() async throws -> Data? {
      let hasMore = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if !hasMore, let error { throw error }
      return hasMore ? Data(repeating: 7, count: 50_000) : nil
    }
  }

  @Test(arguments: Kind.allCases) func `does not store a body that fails or is not read to the end`(kind: Kind)
    async throws
  {
    let lost = TaskError(.truncatedBody, "lost", phase: .receiving)
    let answer: @Sendable (HTTPRequest) -> HTTPResponse = { request in
      let breaks = request.url.path.hasSuffix("broken")
      return HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=60"],
        body: HTTPResponseBody(Pieces(4, then: breaks ? lost : nil)))
    }
    try await withShop(kind, { answer($0) }) { shop, folder in
      let file = folder.appendingPathComponent("file")
      #expect(await taskError { _ = try await shop.task("broken").downloadData() }?.code == .truncatedBody)
      #expect(await taskError { try await shop.task("broken").download(to: file) }?.code == .truncatedBody)
      #expect(await taskError { _ = try await shop.task("broken").stream().body.collect() }?.code == .truncatedBody)
      var response: HTTPResponse? = try await shop.task("left").stream()
      _ = try await response?.body.next()
      response = nil
      for path in ["broken", "left"] {
        #expect(await shop.cache.entries(for: CacheKey(url: "https://shop.test/\(path)")).isEmpty)
      }
      #expect(try await shop.task("left").stream().body.collect().count == 200_000)
      #expect(await shop.cache.entries(for: CacheKey(url: "https://shop.test/left")).count == 1)
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
    }
  }

  /// A store whose operations all fail.
  private struct BrokenStore: CacheStore {
    struct Broken: Error {}
    final class Writer: CacheWriter {
      func write(_ data: Data) async throws { throw Broken() }
      func commit() async throws { throw Broken() }
      func discard() {}
    }
    let entry: CacheEntry?
    let canBegin: Bool
    func entries(for key: CacheKey) async -> [CacheEntry] { entry.map { [$0] } ?? [] }
    func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
      if !canBegin { throw Broken() }
      return Writer()
    }
    func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws { throw Broken() }
    func remove(_ entry: CacheEntry, for key: CacheKey) async {}
    func removeAll(for url: String) async {}
    func removeAll() async {}
  }

  @Test(arguments: [true, false], [true, false]) func `a failing store does not fail the call`(
    canBegin: Bool, hasEntry: Bool
  ) async throws {
    let isOpened = Shared(false)
    let gone = CacheEntry(id: "1", .made([.cacheControl: "max-age=99999999999"]), length: 5) { _ in
      isOpened.withLock { $0 = true }
      throw BrokenStore.Broken()
    }
    let store = BrokenStore(entry: hasEntry ? gone : nil, canBegin: canBegin)
    let shop = CachedShop(store) { _, request in .text("abc", [.cacheControl: "max-age=60"], for: request) }
    #expect(try await shop.get().text == "abc")
    #expect(try await shop.task().stream().body.collect() == Data("abc".utf8))
    #expect(isOpened.withLock { $0 } == hasEntry && shop.sentCount == 2)
  }

  @Test(arguments: [4, 6]) func `a stored body of the wrong length fails every kind of call`(length: Int) async throws {
    let entry = CacheEntry(id: "1", .made([.cacheControl: "max-age=99999999999"]), length: length) { _ in
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("abcde".utf8))
      continuation.finish()
      return StreamSource(stream)
    }
    let shop = CachedShop(BrokenStore(entry: entry, canBegin: true)) { _, request in .text("new", for: request) }
    let errors = [
      await taskError { _ = try await shop.task().downloadData() },
      await taskError { _ = try await shop.task().stream().body.collect() },
      await taskError { for try await _ in try await shop.task().stream().body {} },
    ]
    #expect(errors.allSatisfy { $0?.code == .truncatedBody } && shop.sentCount == 0, "\(errors)")
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      #expect(await taskError { _ = try await shop.task().download(to: file) }?.code == .truncatedBody)
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test func `maximumBodySize applies to a cached body too`() async throws {
    try await withFolder { folder in
      let shop = CachedShop(try DiskCache(at: folder), configure: { $0.maximumBodySize = 100_000 }) { _, request in
        HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(Self.body))
      }
      #expect(try await shop.task().stream().body.collect() == Self.body)
      #expect(await taskError { _ = try await shop.task().downloadData() }?.code == .bodyTooLarge)
      #expect(shop.sentCount == 1)
    }
  }

  @Test func `a damaged file fails one call and is a miss afterwards`() async throws {
    try await withFolder { folder in
      let shop = CachedShop(try DiskCache(at: folder)) { _, request in
        HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(Self.body))
      }
      _ = try await shop.task().downloadData()
      let name = try #require(FileManager.default.subpathsOfDirectory(atPath: folder.path).first { $0.contains("/") })
      let path = folder.appendingPathComponent(name)
      var bytes = try Data(contentsOf: path)
      bytes[bytes.count - 10] ^= 1
      try bytes.write(to: path)
      #expect(await taskError { _ = try await shop.task().downloadData() }?.code == .truncatedBody)
      #expect(try await shop.task().downloadData() == Self.body && shop.sentCount == 2)
    }
  }

  @Test(arguments: Kind.allCases)
  func `does not store a streamed body whose reader is cancelled, even if the source ends normally`(kind: Kind)
    async throws
  {
    let sent = Shared<[AsyncThrowingStream<Data, any Error>.Continuation]>([])
    let answer: @Sendable (HTTPRequest) -> HTTPResponse = { request in
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("first".utf8))
      let isFirst = sent.withLock { sent in
        sent.append(continuation)
        return sent.count == 1
      }
      if !isFirst { continuation.finish() }
      let source = StreamSource(stream)
      return HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(source))
    }
    try await withShop(kind, { answer($0) }) { shop, _ in
      let isReading = Gate()
      let task = shop.task("file")
      let reader = Task {
        for try await _ in try await task.stream().body { isReading.open() }
        try Task.checkCancellation()
      }
      await isReading.wait()
      reader.cancel()
      await #expect(throws: CancellationError.self) { try await reader.value }
      let response = try await task.response().response
      #expect(response.cacheStatus?.isHit != true)
      #expect(shop.sentCount == 2)
    }
  }
}
