import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// `updates()` yields the stored response, then the server's response.
@Suite(.timeLimit(.minutes(1))) struct UpdatesTests {
  private func texts(_ task: some PayloadDownloadingTask) async throws -> [String] {
    var texts: [String] = []
    for try await update in task.updates() { texts.append(update.text) }
    return texts
  }

  @Test func `yields the stored response first, then the server's response`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60"])
    #expect(try await texts(shop.task()) == ["1"])
    #expect(try await texts(shop.task()) == ["1", "2"])
    #expect(shop.sentCount == 2)
  }

  @Test func `yields a fresh immutable response once`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60, immutable"])
    for _ in 0..<2 { #expect(try await texts(shop.task()) == ["1"]) }
    #expect(shop.sentCount == 1)
  }

  @Test func `yields a response that another call has stored in the meantime`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60, immutable"])
    _ = try await shop.get()
    var updates = shop.task().updates().makeAsyncIterator()
    #expect(try await updates.next()?.payload == "1")
    shop.clock.advance(by: .seconds(1))
    _ = try await shop.task().caching(.reload).download()
    #expect(try await updates.next()?.payload == "2")
    #expect(try await updates.next() == nil)
  }

  @Test(arguments: [("errand; hit", "max-age=60", ["1", "2"]), ("cdn; hit", "max-age=60, immutable", ["1"])])
  func `ignores the Cache-Status of other caches`(
    status: String, control: String, expected: [String]
  ) async throws {
    let shop = CachedShop([.cacheStatus: status, .cacheControl: control])
    _ = try await shop.get()
    #expect(try await texts(shop.task()) == expected)
  }

  @Test func `yields the stored response again after a 304`() async throws {
    let shop = CachedShop { number, request in
      number == 1
        ? .text("one", [.eTag: "\"1\""], for: request) : .status(.notModified, headers: [.eTag: "\"1\""], for: request)
    }
    _ = try await shop.get()
    #expect(try await texts(shop.task()) == ["one", "one"])
    #expect(shop.requests.last?.headers[.ifNoneMatch] == "\"1\"")
  }

  private struct Stamped: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = String
    let path = "widgets/7"
    let count: Shared<Int>
    var headers: HTTPHeaders { ["X-Stamp": "\(count.withLock { $0 })"] }
  }

  @Test func `computes the task's headers for each request`() async throws {
    let count = Shared(0)
    let shop = CachedShop([.cacheControl: "max-age=0, stale-while-revalidate=60"])
    let task = Stamped(count: count).on(shop.server)
    _ = try await task.download()
    let updates = task.updates()
    count.withLock { $0 = 1 }
    for try await _ in updates { count.withLock { $0 += 1 } }
    #expect(shop.requests.map { $0.headers["X-Stamp"] } == ["0", "2"], "the first update comes from the cache")
  }

  @Test func `yields the stored response before throwing the server's error`() async throws {
    let shop = CachedShop { number, request in
      guard number == 1 else { throw TaskError(.offline, "no network", phase: .connecting) }
      return .text("one", for: request)
    }
    _ = try await shop.get()
    var updates = shop.task().updates().makeAsyncIterator()
    #expect(try await updates.next()?.text == "one")
    #expect(await taskError { _ = try await updates.next() }?.code == .offline)
    #expect(try await updates.next() == nil)
  }

  @Test func `skips a stored response that can no longer be decoded`() async throws {
    let shop = CachedShop { number, request in .text(number == 1 ? "old" : #"{"id":7,"name":"Cog"}"#, for: request) }
    _ = try await shop.task().run()
    let widgets = Endpoint<Void, Widget>.get("widgets/7").on(shop.server).updates()
    var names: [String] = []
    for try await update in widgets { names.append(update.payload.name) }
    #expect(names == ["Cog"])
  }

  @Test func `yields a single response if the policy uses only the cache or only the network`() async throws {
    let shop = CachedShop([:])
    _ = try await shop.get()
    #expect(try await texts(shop.task().caching(.cacheOnly)) == ["1"])
    #expect(try await texts(shop.task().caching(.none)) == ["2"])
    #expect(try await texts(shop.task().caching(.reload)) == ["3"])
    #expect(try await texts(shop.task().caching(.standard.withoutStoring)) == ["3", "4"])
    #expect(try await texts(shop.task().caching(.cacheOnly)) == ["3"])
    #expect(await taskError { _ = try await texts(shop.task("other").caching(.cacheOnly)) }?.code == .notCached)
  }
}
