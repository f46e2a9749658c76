import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Limits on the size of caches and on the lifetime of objects.
@Suite(.timeLimit(.minutes(1))) struct CacheBoundsTests {
  @Test func `releases a call with its response, whether the response is new, cached or validated`() async throws {
    let shop = CachedShop { number, request in
      request.headers[.ifNoneMatch] == nil
        ? .text("\(number)", [.cacheControl: "max-age=60", .eTag: "\"1\""], for: request)
        : .status(.notModified, headers: [.eTag: "\"1\""], for: request)
    }
    for policy in [CachePolicy.standard, .standard, .validated] {
      weak var call: Call?
      do {
        let response = try await shop.task("widgets/7", policy).response()
        call = response.response.call as? Call
        #expect(call != nil)
      }
      #expect(await eventually { call == nil })
    }
    #expect(shop.sentCount == 2)
  }

  @Test func `stays within the memory limit if updates make the headers larger`() async throws {
    let cache = MemoryCache(byteLimit: 100_000)
    let large = StoredResponse.made(["X-Large": String(repeating: "x", count: 20_000)])
    for id in 0..<20 {
      try await cache.put("x", for: .widget(id))
      let entry = try #require(await cache.entries(for: .widget(id)).first)
      try await cache.update(entry, to: large, for: .widget(id))
      #expect(cache.byteCount <= 100_000)
    }
    #expect(try await cache.texts(.widget(19)) == ["x"], "the last response is stored")
    let entry = try #require(await cache.entries(for: .widget(19)).first)
    let larger = StoredResponse.made(["X-Large": String(repeating: "x", count: 200_000)])
    try await cache.update(entry, to: larger, for: .widget(19))
    #expect(cache.count == 0 && cache.byteCount == 0, "a response above the limit is not kept")
  }

  @Test func `stays within the disk limit if updates make the headers larger`() async throws {
    try await withFolder { folder in
      let cache = try DiskCache(at: folder, sizeLimit: 200_000, ageLimit: .seconds(86_400)) { CacheRulesWorld.start }
      for id in 0..<20 { try await cache.put("x", for: .widget(id)) }
      let size = await cache.trim()
      let large = StoredResponse.made(["X-Large": String(repeating: "x", count: 100_000)])
      for id in 0..<20 {
        for entry in await cache.entries(for: .widget(id)) {
          try await cache.update(entry, to: large, for: .widget(id))
        }
      }
      // Nothing else is stored, so only the header updates can trigger trimming.
      func kept() async -> Int {
        var count = 0
        for id in 0..<20 { count += await cache.entries(for: .widget(id)).count }
        return count
      }
      #expect(size < 200_000)
      #expect(await eventually { await kept() <= 2 })
    }
  }

  @Test(arguments: [true, false])
  func `keeps only the latest variants if the Vary field changes with every request`(
    isOnDisk: Bool
  ) async throws {
    try await withFolder { folder in
      let cache: any CacheStore =
        isOnDisk
        ? try DiskCache(at: folder, sizeLimit: 100 << 20, ageLimit: .seconds(86_400)) { CacheRulesWorld.start + 1000 }
        : MemoryCache()
      for number in 0..<100 {
        let response = StoredResponse.made(
          [.vary: "X-Request-ID"], selecting: ["X-Request-ID": "\(number)"], after: Double(number))
        try await cache.put(response, [Data("\(number)".utf8)])
      }
      let kept = try await cache.texts().compactMap { Int($0) }.sorted()
      #expect(kept == Array((100 - StoredResponse.mostVariants)..<100), "only the latest variants are kept")
      #expect(try await cache.texts(.widget(8)).isEmpty)
    }
  }

  @Test func `a no-store request does not update the stored response`() async throws {
    let shop = CachedShop { number, request in
      number == 1
        ? .text("a", [.cacheControl: "max-age=1", .eTag: "\"1\""], for: request)
        : .status(.notModified, headers: [.eTag: "\"1\"", "X-New": "\(number)"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(10))
    let response = try await shop.task().header(.cacheControl, "no-store").response()
    #expect(response.text == "a" && response.headers["X-New"] == "2" && shop.sentCount == 2)
    let key = CacheKey(url: "https://shop.test/widgets/7")
    #expect(await shop.cache.entries(for: key).map { $0.response.headers["X-New"] } == [nil])
    _ = try await shop.get()
    #expect(await shop.cache.entries(for: key).map { $0.response.headers["X-New"] } == ["3"])
  }

  @Test func `releases the stream of an unusable 304 before the next request`() async throws {
    let shop = CachedShop { number, request in
      switch number {
      case 1: .text("0123456789", [.cacheControl: "max-age=1", .eTag: "\"1\""], for: request)
      case 2: .status(.notModified, headers: [.eTag: "\"1\""], for: request)
      default: .status(416, for: request)
      }
    }
    await shop.server.manager.setLimits(ThrottleLimits(streamsPerHost: 1))
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(10))
    let call = Task { try await shop.task().header(.range, "bytes=1000-").accepting(.all).stream().status }
    #expect(try await call.value == 416 && shop.sentCount == 3)
  }
}
