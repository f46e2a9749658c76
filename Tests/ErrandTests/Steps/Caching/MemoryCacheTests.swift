import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct MemoryCacheTests {
  private func size(_ text: String) async throws -> Int {
    let cache = MemoryCache()
    try await cache.put(text)
    return cache.byteCount
  }

  @Test func `evicts the least recently used response first`() async throws {
    let cache = MemoryCache(byteLimit: 3 * (try await size("1")))
    for id in 1...3 { try await cache.put("\(id)", for: .widget(id)) }
    _ = await cache.entries(for: .widget(1))
    try await cache.put("4", for: .widget(4))
    #expect(cache.count == 3 && cache.byteCount <= cache.byteLimit)
    #expect(try await cache.texts(.widget(1)) == ["1"])
    #expect(try await cache.texts(.widget(2)).isEmpty)
    #expect(try await cache.texts(.widget(3)) == ["3"])
    #expect(try await cache.texts(.widget(4)) == ["4"])
  }

  @Test func `rejects a body larger than a quarter of the limit, without evicting anything`() async throws {
    let cache = MemoryCache(byteLimit: 100_000)
    try await cache.put("1", for: .widget(1))
    await #expect(throws: (any Error).self) {
      try await cache.put(.made(), [Data(count: 20_000), Data(count: 5_001)], for: .widget(2))
    }
    #expect(cache.count == 1)
    try await cache.put(.made(), [Data(count: 25_000)], for: .widget(3))
    #expect(cache.count == 2)
  }

  @Test func `limits the total size of pending bodies, and discarding a body frees its space`() async throws {
    let cache = MemoryCache(byteLimit: 100_000)
    await #expect(throws: (any Error).self, "the Content-Length is above the limit") {
      _ = try await cache.store(.made([.contentLength: "25001"]), for: .widget(1))
    }
    var writers: [any CacheWriter] = []
    for id in 1...4 {
      writers.append(try await cache.store(.made(), for: .widget(id)))
      try await writers[id - 1].write(Data(count: 24_000))
    }
    let late = try await cache.store(.made(), for: .widget(5))
    await #expect(throws: (any Error).self) { try await late.write(Data(count: 5000)) }
    writers.removeLast().discard()
    try await late.write(Data(count: 5000))
    try await late.commit()
    for writer in writers { try await writer.commit() }
    writers = []
    for id in 6...9 { writers.append(try await cache.store(.made(), for: .widget(id))) }
    for writer in writers { try await writer.write(Data(count: 24_000)) }
    #expect(cache.count > 0)
  }

  @Test func `a cache that is too small for any response stores nothing`() async throws {
    for limit in [0, -1, 10] {
      let cache = MemoryCache(byteLimit: limit)
      try await cache.put(.made(), [], for: .widget(1))
      #expect(cache.count == 0 && cache.byteCount == 0)
    }
  }

  /// Compares random operations on the store with the same operations on a list.
  @Test(arguments: 1...20) func `random operations have the same result as on a simple list`(seed: UInt64) {
    var random = Seeded(state: seed)
    var storage = LRUStore(limit: 9_000)
    var model: [(key: CacheKey, text: String, size: Int)] = []
    for step in 0..<500 {
      let key = CacheKey.widget(Int(random.next() % 8), random.next() % 2 == 0 ? "" : "c")
      let place = model.firstIndex { $0.key == key }
      switch random.next() % 8 {
      case 0...3:
        let body = Data(count: Int(random.next() % 2000))
        let before = storage.bytes
        let dropped = storage.insert(.made(["X-Text": "\(step)"]), body, for: key)
        if let place { model.remove(at: place) }
        model.append((key, "\(step)", 0))
        for entry in dropped { model.removeAll { $0.text == entry.response.headers["X-Text"] } }
        #expect(before >= 0 && storage.bytes <= storage.limit)
      case 4, 5:
        let found = storage.entries(for: key).map { $0.response.headers["X-Text"] }
        #expect(found == place.map { [model[$0].text] } ?? [])
        if let place { model.append(model.remove(at: place)) }
      case 6:
        if let entry = storage.entries(for: key).first { storage.remove(entry.id, for: key) }
        if let place { model.remove(at: place) }
      default:
        storage.removeAll(for: key.url)
        model.removeAll { $0.key.url == key.url }
      }
      #expect(storage.count == model.count)
    }
    // Filling the store evicts responses in order of last use.
    var order: [String] = []
    while storage.count > 0, order.count < 100 {
      order += storage.insert(.made(["X-Text": "end"]), Data(count: 7_000 + order.count * 100), for: .widget(99))
        .compactMap {
          $0.response.headers["X-Text"]
        }
      if order.last == "end" { break }
    }
    #expect(
      Array(order.filter { $0 != "end" }.prefix(model.count))
        == Array(model.map(\.text).prefix(order.count { $0 != "end" })))
  }

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
  }
}
