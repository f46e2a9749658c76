import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A slot is held only during an exchange, so app code can make calls even if there is a single slot.
@Suite(.timeLimit(.minutes(1))) struct SlotScopeTests {
  /// A store that makes a call before it stores a response.
  private struct CallingStore: CacheStore {
    let memory = MemoryCache()
    let server: Shared<Server?>

    func entries(for key: CacheKey) async -> [CacheEntry] { await memory.entries(for: key) }
    func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {
      try await memory.update(entry, to: response, for: key)
    }
    func remove(_ entry: CacheEntry, for key: CacheKey) async { await memory.remove(entry, for: key) }
    func removeAll(for url: String) async { await memory.removeAll(for: url) }
    func removeAll() async { await memory.removeAll() }

    func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
      if !key.url.contains("inner"), let server = server.withLock({ $0 }) {
        try await ShopTask(path: "inner", httpMethod: .post).on(server).run()
      }
      return try await memory.store(response, for: key)
    }
  }

  private func shop(_ limits: ThrottleLimits) -> VirtualShop {
    let server = Shared<Server?>(nil)
    let shop = VirtualShop(limits: limits, configure: { $0.cache = CallingStore(server: server) }) { _, request, _ in
      .text("body", [.cacheControl: "max-age=60"], for: request)
    }
    server.withLock { $0 = shop.server }
    return shop
  }

  /// Cancels `calls` that do not end in time. Returns the number of calls that succeeded.
  private func succeeded(_ calls: [Task<Void, any Error>], of shop: VirtualShop) async -> Int {
    if !(await eventually { shop.manager.callCount == 0 }) { for call in calls { call.cancel() } }
    var count = 0
    for call in calls { if case .success = await call.result { count += 1 } }
    return count
  }

  enum BodyDestination: CaseIterable { case memory, file, discarded }

  @Test(arguments: BodyDestination.allCases) func `a cache store can make a call if there is only one slot`(
    _ delivery: BodyDestination
  )
    async throws
  {
    try await withFolder { folder in
      let shop = shop(ThrottleLimits(perHost: 1))
      let call = Task {
        switch delivery {
        case .memory: _ = try await shop.task().downloadData()
        case .file: _ = try await shop.task().download(to: folder.appendingPathComponent("file"))
        case .discarded: _ = try await shop.task().run()
        }
      }
      #expect(await succeeded([call], of: shop) == 1)
      #expect(shop.sentCount == 2)
      _ = try await shop.task().downloadData()
      #expect(shop.sentCount == 2)  // the response was stored
    }
  }

  @Test func `cache stores can make calls with the default limits`() async throws {
    let shop = shop(ThrottleLimits())
    let calls = (0..<20).map { number in Task { _ = try await shop.task("\(number)").downloadData() } }
    #expect(await succeeded(calls, of: shop) == 20)
    #expect(shop.sentCount == 40)
  }

  @Test func `a request body can be produced by a task that makes a call`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .text("fine", for: request)
    }
    let (chunks, producer) = AsyncStream<Data>.makeStream()
    let isReading = Gate()
    // Detached, so that it does not inherit the upload's task context.
    Task.detached {
      await isReading.wait()
      producer.yield((try? await shop.task("source").downloadData()) ?? Data())
      producer.finish()
    }
    let body = HTTPBody.stream {
      isReading.open()
      return chunks
    }
    let upload = Task {
      _ = try await URLTask(.known("https://shop.test/upload"), method: .put, body: body).on(shop.server).run()
    }
    #expect(await succeeded([upload], of: shop) == 1)
    #expect(shop.sentCount == 2)
  }

  @Test func `a streamed upload counts as a stream`() async throws {
    let (isSent, mayEnd) = (Gate(), Gate())
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      isSent.open()
      await mayEnd.wait()
      return .ok(request)
    }
    let upload = Task {
      try await MadeBody(server: shop.server) { Data() }.run()
    }
    await isSent.wait()
    #expect(shop.manager.throttle.running == 0 && shop.manager.throttle.streams == 1)
    mayEnd.open()
    _ = try await upload.value
    #expect(shop.manager.throttle.streams == 0)
  }

  @Test(arguments: BodyDestination.allCases) func `a step receives the full body and holds no slot`(
    _ delivery: BodyDestination
  )
    async throws
  {
    struct Looking: PerAttemptStep {
      let look: @Sendable (HTTPResponse) async throws -> Void
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        try await look(response)
        return response
      }
    }
    let (manager, running) = (Shared<TaskManager?>(nil), Shared(-1))
    let step = Looking { response in
      let isComplete = response.body.isInMemory || response.body.file is WrittenBody
      running.withLock { [manager] in $0 = isComplete ? manager.withLock { $0 }?.runningCount ?? -1 : -2 }
    }
    let shop = VirtualShop(configure: { $0.perAttemptSteps = [step] }) { _, request, _ in
      HTTPResponse(url: request.url, body: HTTPResponseBody(TwoChunks()))
    }
    manager.withLock { $0 = shop.manager }
    switch delivery {
    case .memory: #expect(try await shop.task().downloadData() == Data("ab".utf8))
    case .discarded: _ = try await shop.task().run()
    case .file:
      try await withFolder { folder in
        let file = folder.appendingPathComponent("file")
        _ = try await shop.task().download(to: file)
        #expect(try Data(contentsOf: file) == Data("ab".utf8))
      }
    }
    #expect(running.withLock { $0 } == 0)
  }

  private final class TwoChunks: HTTPBodySource {
    private let left = Shared(["a", "b"])
    func next() async throws -> Data? {
      left.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) }
    }
    func cancel() {}
  }
}
