import Foundation
import Testing

@testable import Errand

/// The common behavior of the memory and disk stores.
@Suite(.timeLimit(.minutes(1))) struct CacheStoreTests {
  enum Kind: CaseIterable, Sendable {
    case memory, disk
  }

  private func withStore(_ kind: Kind, _ body: (any CacheStore) async throws -> Void) async throws {
    try await withFolder { folder in
      switch kind {
      case .memory: try await body(MemoryCache())
      case .disk:
        let clock = TestDates()
        try await body(DiskCache(at: folder, sizeLimit: 64 << 20, ageLimit: .seconds(1e6)) { clock.now })
      }
    }
  }

  @Test(arguments: Kind.allCases) func `returns a response unchanged after it is committed`(kind: Kind) async throws {
    let headers: HTTPHeaders = ["Date": "x", "X-A": "1", "x-a": "2", "Ünicode": "ä\u{0}\r", "": ""]
    let response = StoredResponse(
      status: 404, headers: headers, requestTime: CacheRulesWorld.start + 0.25,
      responseTime: CacheRulesWorld.start + 0.5, selecting: ["Accept": "a,b"], isDecompressed: false)
    try await withStore(kind) { store in
      let writer = try await store.store(response, for: .widget())
      try await writer.write(Data("ab".utf8))
      #expect(await store.entries(for: .widget()).isEmpty)
      try await writer.write(Data("c".utf8))
      try await writer.commit()
      let entry = try #require(await store.entries(for: .widget()).first)
      #expect(entry.response == response && entry.response.headers.map(\.name.rawName) == headers.map(\.name.rawName))
      #expect(entry.length == 3)
      #expect(try await entry.open().collect() == Data("abc".utf8))
      #expect(try await entry.open(1..<2).collect() == Data("b".utf8))
      #expect(await store.entries(for: .widget(8)).isEmpty)
    }
  }

  @Test(arguments: Kind.allCases) func `replaces a response from the future`(kind: Kind) async throws {
    try await withStore(kind) { store in
      try await store.put("wrong", after: 86_400 * 365)
      try await store.put("right")
      #expect(try await store.texts() == ["right"])
    }
  }

  @Test(arguments: Kind.allCases) func `does not keep a discarded or uncommitted response`(kind: Kind) async throws {
    try await withStore(kind) { store in
      let writer = try await store.store(.made(), for: .widget())
      try await writer.write(Data("abc".utf8))
      writer.discard()
      writer.discard()
      do {
        let released = try await store.store(.made(), for: .widget())
        try await released.write(Data("abc".utf8))
      }
      #expect(await store.entries(for: .widget()).isEmpty)
    }
  }

  @Test(arguments: Kind.allCases) func `reads bodies of many sizes, whole and by range`(kind: Kind) async throws {
    try await withStore(kind) { store in
      var random = SystemRandomNumberGenerator()
      for size in [0, 1, 39, 8 << 10, 65_535, 65_536, 65_537, 131_072, 200_000, 1_000_000] {
        let body = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
        var pieces: [Data] = []
        var rest = body
        while !rest.isEmpty {
          let piece = rest.prefix(Int.random(in: 1...100_000, using: &random))
          pieces.append(piece)
          rest = rest.dropFirst(piece.count)
        }
        try await store.put(.made(), pieces, for: .widget(size))
        let entry = try #require(await store.entries(for: .widget(size)).first)
        #expect(entry.length == size)
        let (whole, last) = (try await entry.open().collect(), try await entry.open(max(0, size - 1)..<size).collect())
        #expect(whole.startIndex == 0 && last.startIndex == 0, "the indices of a body start at 0")
        #expect(try await entry.open().collect() == body)
        for _ in 0..<5 where size > 1 {
          let (a, b) = (Int.random(in: 0..<size, using: &random), Int.random(in: 0..<size, using: &random))
          let range = min(a, b)..<(max(a, b) + 1)
          #expect(try await entry.open(range).collect() == body.dropFirst(range.lowerBound).prefix(range.count))
        }
      }
    }
  }

  @Test(arguments: Kind.allCases) func `an open body can be read after its response is replaced or removed`(kind: Kind)
    async throws
  {
    try await withStore(kind) { store in
      let body = Data(repeating: 7, count: 300_000)
      try await store.put(.made(), [body])
      let entry = try #require(await store.entries(for: .widget()).first)
      let open = try entry.open()
      _ = try await open.next()
      try await store.put("new")
      await store.removeAll()
      var count = 0
      while let chunk = try await open.next() { count += chunk.count }
      #expect(count > 0 || kind == .memory)
      #expect(try await entry.open().collect() == body, "an entry keeps its body readable")
    }
  }

  @Test(arguments: Kind.allCases) func `a later response replaces only the variant with the same Vary values`(
    kind: Kind
  ) async throws {
    try await withStore(kind) { store in
      func put(_ text: String, _ accept: String, after seconds: Double) async throws {
        try await store.put(
          .made([.vary: "Accept"], selecting: ["Accept": accept], after: seconds), [Data(text.utf8)])
      }
      try await put("a", "a", after: 0)
      try await put("b", "b", after: 0)
      try await put("A", "a", after: 1)
      #expect(try await store.texts() == ["A", "b"])
    }
  }

  @Test(arguments: Kind.allCases) func `updates the headers and keeps the body`(kind: Kind) async throws {
    try await withStore(kind) { store in
      try await store.put("abc")
      let entry = try #require(await store.entries(for: .widget()).first)
      for number in 1...3 {
        try await store.update(entry, to: .made(["X-Number": "\(number)"], after: Double(number)), for: .widget())
      }
      let updated = try #require(await store.entries(for: .widget()).first)
      #expect(updated.response == .made(["X-Number": "3"], after: 3))
      #expect(try await store.texts() == ["abc"])
      await store.remove(updated, for: .widget())
      try await store.update(entry, to: .made(), for: .widget())
      #expect(await store.entries(for: .widget()).isEmpty, "an update does not restore a removed response")
    }
  }

  @Test(arguments: Kind.allCases) func `stores responses per credential and invalidates a URL for all users`(kind: Kind)
    async throws
  {
    try await withStore(kind) { store in
      for credential in ["", "a", "b"] { try await store.put("of \(credential)", for: .widget(7, credential)) }
      try await store.put("other", for: .widget(8))
      for credential in ["", "a", "b"] {
        #expect(try await store.texts(.widget(7, credential)) == ["of \(credential)"])
      }
      #expect(try await store.texts(.widget(7, "c")).isEmpty)
      await store.removeAll(for: CacheKey.widget().url)
      for credential in ["", "a", "b"] { #expect(try await store.texts(.widget(7, credential)).isEmpty) }
      #expect(try await store.texts(.widget(8)) == ["other"])
      await store.removeAll()
      #expect(try await store.texts(.widget(8)).isEmpty)
    }
  }
}
