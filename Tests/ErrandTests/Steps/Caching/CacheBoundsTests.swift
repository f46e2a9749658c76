import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// What a cache keeps, and what calls keep of it.
@Suite(.timeLimit(.minutes(10))) struct CacheBoundsTests {
  @Test func `a call is released with its response, be that stored, served or validated`() async throws {
    let shop = CachedShop { number, request in
      request.headers[.ifNoneMatch] == nil
        ? .text("\(number)", [.cacheControl: "max-age=60", .eTag: "\"1\""], for: request)
        : .status(.notModified, headers: [.eTag: "\"1\""], for: request)
    }
    for policy in [CachePolicy.standard, .standard, .validated] {
      weak var call: Call?
      do {
        let response = try await shop.task("widgets/7", policy).response()
        call = response.response.maker as? Call
        #expect(call != nil)
      }
      #expect(await eventually { call == nil })
    }
    #expect(shop.sentCount == 2)
  }

  @Test func `headers that grow with every validation keep to the limit in memory`() async throws {
    let cache = MemoryCache(byteLimit: 100_000)
    let large = StoredResponse.made(["X-Large": String(repeating: "x", count: 20_000)])
    for id in 0..<20 {
      try await cache.put("x", for: .widget(id))
      let entry = try #require(await cache.entries(for: .widget(id)).first)
      try await cache.update(entry, to: large, for: .widget(id))
      #expect(cache.byteCount <= 100_000)
    }
    #expect(try await cache.texts(.widget(19)) == ["x"], "the last one is there")
    let entry = try #require(await cache.entries(for: .widget(19)).first)
    let larger = StoredResponse.made(["X-Large": String(repeating: "x", count: 200_000)])
    try await cache.update(entry, to: larger, for: .widget(19))
    #expect(cache.count == 0 && cache.byteCount == 0, "one that is larger than all is not kept")
  }

  @Test func `headers that grow with every validation keep to the limit on disk`() async throws {
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
      // Nothing else is stored: it is the headers that have the files counted.
      func kept() async -> Int {
        var count = 0
        for id in 0..<20 { count += await cache.entries(for: .widget(id)).count }
        return count
      }
      #expect(size < 200_000)
      #expect(await eventually { await kept() <= 2 })
    }
  }
}
