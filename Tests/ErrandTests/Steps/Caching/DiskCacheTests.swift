import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DiskCacheTests {
  private let clock = TestDates()

  private func open(_ folder: URL, sizeLimit: Int = 64 << 20, ageLimit: Duration = .seconds(1e6)) throws -> DiskCache {
    try DiskCache(at: folder, sizeLimit: sizeLimit, ageLimit: ageLimit) { [clock] in clock.now }
  }

  /// Returns the files in the subfolders of `folder`. The trim lock is not in a subfolder.
  private func files(below folder: URL) -> [String] {
    let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.contains("/") }.sorted()
  }

  private func size(below folder: URL) -> Int {
    files(below: folder).reduce(0) { total, name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(name).path)
      return total + (attributes?[.size] as? Int ?? 0)  // the file may have been removed since
    }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `the next process reads the stored responses`() async throws {
    try await withFolder { folder in
      try await open(folder).put("abc", for: .widget(7, "secret"))
      #expect(try await open(folder).texts(.widget(7, "secret")) == ["abc"])
    }
  }

  @Test func `creates the folder and its files with private permissions`() async throws {
    try await withFolder { parent in
      let folder = parent.appendingPathComponent("a/b")
      let cache = try open(folder)
      try await cache.put("abc")
      let entry = try #require(await cache.entries(for: .widget()).first)
      try await cache.update(entry, to: .made(), for: .widget())
      for path in [parent.appendingPathComponent("a").path, folder.path] { #expect(try mode(path) == 0o700) }
      await cache.trim()  // creates the lock file
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      #expect(names.count == 4)
      for name in names {
        #expect(try mode(folder.appendingPathComponent(name).path) == (name.count == 3 ? 0o700 : 0o600), "\(name)")
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
      _ = try open(folder)
      #expect(try mode(folder.path) == 0o700, "a world-accessible folder becomes private")
    }
  }

  @Test func `throws .fileNotWritable with the path if the folder can't be created`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      let error = await taskError { _ = try open(file.appendingPathComponent("cache")) }
      #expect(error?.code == .fileNotWritable && error?.reason.contains(file.path) == true)
      #expect(await taskError { _ = try open(file) }?.code == .fileNotWritable)
    }
  }

  @Test func `treats a file with any corrupted byte as a miss and removes the file`() async throws {
    try await withFolder { folder in
      let cache = try open(folder)
      try await cache.put("the body of it")
      let name = try #require(files(below: folder).first)
      let path = folder.appendingPathComponent(name)
      let sound = try Data(contentsOf: path)
      for index in sound.indices {
        var damaged = sound
        damaged[index] ^= 1 << UInt8(index % 8)
        try damaged.write(to: path)
        #expect(try await cache.texts().isEmpty, "byte \(index) was changed")
        #expect(files(below: folder).isEmpty, "byte \(index) was changed")
      }
      for count in [0, 1, 39, 40, 41, sound.count - 1, sound.count + 1] {
        try (sound + Data(count: 1)).prefix(count).write(to: path)
        #expect(try await cache.texts().isEmpty && files(below: folder).isEmpty, "the file has \(count) bytes")
      }
      try sound.write(to: path)
      #expect(try await cache.texts() == ["the body of it"])
    }
  }

  @Test func `stops reading a large body before the corrupted bytes and removes the file`() async throws {
    try await withFolder { folder in
      let cache = try open(folder)
      let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
      for offset in [100_000, 200_000, 299_999] {
        try await cache.put(.made(), [body])
        let path = folder.appendingPathComponent(try #require(files(below: folder).first))
        var damaged = try Data(contentsOf: path)
        damaged[offset] ^= 1
        try damaged.write(to: path)
        let entry = try #require(await cache.entries(for: .widget()).first)
        let reading = try entry.open()
        var received = Data()
        let error = await taskError { while let chunk = try await reading.next() { received.append(chunk) } }
        #expect(error?.code == .truncatedBody && body.starts(with: received) && received.count < body.count)
        #expect(files(below: folder).isEmpty)
      }
    }
  }

  @Test func `treats another URL's file, a symbolic link and a folder as misses`() async throws {
    try await withFolder { folder in
      let cache = try open(folder)
      try await cache.put("eight", for: .widget(8))
      try await cache.put("seven", for: .widget(7))
      let paths = files(below: folder).map { folder.appendingPathComponent($0) }
      let eight = try #require(paths.first { (try? Data(contentsOf: $0).contains(Data("eight".utf8))) ?? false })
      let seven = try #require(paths.first { $0 != eight })
      let bytes = try Data(contentsOf: eight)
      try bytes.write(to: seven)
      #expect(try await cache.texts(.widget(7)).isEmpty)
      #expect(try await cache.texts(.widget(8)) == ["eight"])
      try FileManager.default.createSymbolicLink(at: seven, withDestinationURL: eight)
      #expect(try await cache.texts(.widget(7)).isEmpty)
      try FileManager.default.removeItem(at: seven)
      try FileManager.default.createDirectory(at: seven, withIntermediateDirectories: false)
      #expect(try await cache.texts(.widget(7)).isEmpty)
      #expect(try await cache.texts(.widget(8)) == ["eight"])
    }
  }

  @Test func `removes a damaged header update and uses the original headers`() async throws {
    try await withFolder { folder in
      let cache = try open(folder)
      try await cache.put("abc")
      let entry = try #require(await cache.entries(for: .widget()).first)
      try await cache.update(entry, to: .made(["X-New": "1"]), for: .widget())
      let head = folder.appendingPathComponent(try #require(files(below: folder).first { $0.hasSuffix(".head") }))
      var bytes = try Data(contentsOf: head)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: head)
      #expect(await cache.entries(for: .widget()).first?.response.headers["X-Text"] == "abc")
      #expect(files(below: folder).count == 1)
    }
  }

  @Test func `evicts the least recently used responses when the size limit is exceeded`() async throws {
    try await withFolder { folder in
      let cache = try open(folder, sizeLimit: 80_000)
      try await whileLocked(folder.appendingPathComponent("trimming")) {  // like another process that is trimming
        for id in 1...9 {
          try await cache.put(.made(), [Data(count: 7_500)], for: .widget(id))
          clock.advance(by: 1)
        }
        #expect(await cache.entries(for: .widget(1)).count == 1)  // used again after 2...9 were stored
        clock.advance(by: 1)
        for id in 10...11 { try await cache.put(.made(), [Data(count: 7_500)], for: .widget(id)) }
      }
      let size = await cache.trim()
      #expect(size <= 72_000)
      var kept: [Int] = []
      for id in 1...11 where await !cache.entries(for: .widget(id)).isEmpty { kept.append(id) }
      #expect(kept == [1, 5, 6, 7, 8, 9, 10, 11])
      await #expect(throws: (any Error).self) { try await cache.put(.made(), [Data(count: 10_001)], for: .widget(20)) }
      #expect(await cache.trim() == size)
    }
  }

  @Test func `counts the disk space that small files occupy`() async throws {
    try await withFolder { folder in
      let cache = try open(folder, sizeLimit: 200_000)
      for id in 1...100 { try await cache.put("\(id)", for: .widget(id)) }
      let size = await cache.trim()
      var taken = 0
      for name in files(below: folder) {
        var status = stat()
        try #require(lstat(folder.appendingPathComponent(name).path, &status) == 0)
        taken += Int(status.st_blocks) * 512
      }
      #expect(taken <= 200_000 && size >= taken && files(below: folder).count <= 48)
    }
  }

  @Test func `treats a response older than the age limit as a miss and removes its file`() async throws {
    try await withFolder { folder in
      let cache = try open(folder, ageLimit: .seconds(100))
      try await cache.put("1", for: .widget(1))
      try await cache.put("2", for: .widget(2))
      await cache.trim()  // no other trim is running from here on
      clock.advance(by: 99)
      #expect(try await cache.texts(.widget(1)) == ["1"])
      clock.advance(by: 2)
      #expect(try await cache.texts(.widget(1)).isEmpty)
      #expect(files(below: folder).count == 1)
      await cache.trim()
      #expect(files(below: folder).isEmpty)
    }
  }

  @Test func `storing a response trims the cache automatically`() async throws {
    try await withFolder { folder in
      let cache = try open(folder, sizeLimit: 50_000)
      for id in 1...30 { try await cache.put(.made(), [Data(count: 3_500)], for: .widget(id)) }
      #expect(await eventually { size(below: folder) <= 50_000 })
      #expect(size(below: folder) > 30_000, "no more is removed than necessary")
    }
  }

  @Test func `removes leftover files, but not files that are being written`() async throws {
    try await withFolder { folder in
      let cache = try open(folder)
      try await cache.put("abc")
      let shard = try #require(files(below: folder).first).prefix(4)
      let name = "0123456789abcdef-0000000000000000-0123456789abcdef"
      for suffix in [".part", ".hart", ".head"] {
        try Data("left".utf8).write(to: folder.appendingPathComponent("\(shard)\(name)\(suffix)"))
      }
      let writer = try await cache.store(.made(), for: .widget(8))
      try await writer.write(Data("new".utf8))
      await cache.trim()
      #expect(files(below: folder).count == 2)
      try await writer.commit()
      #expect(try await cache.texts(.widget(8)) == ["new"])
      #expect(try await cache.texts() == ["abc"])
    }
  }

  @Test func `does not change unrelated files in the folder`() async throws {
    try await withFolder { folder in
      let cache = try open(folder, sizeLimit: 0)
      let shard = folder.appendingPathComponent("abc")
      try FileManager.default.createDirectory(at: shard, withIntermediateDirectories: false)
      let own = [folder.appendingPathComponent("thesis.txt"), shard.appendingPathComponent("thesis.txt")]
      for file in own { try Data("mine".utf8).write(to: file) }
      await cache.trim()
      await cache.removeAll()
      for file in own { #expect(try Data(contentsOf: file) == Data("mine".utf8)) }
    }
  }

  @Test func `two caches in one folder see each other's changes`() async throws {
    try await withFolder { folder in
      let (one, other) = (try open(folder), try open(folder))
      try await one.put("1", after: 1)
      #expect(try await other.texts() == ["1"])
      try await other.put("2", after: 2)
      #expect(try await one.texts() == ["2"] && files(below: folder).count == 1)
      await one.removeAll(for: CacheKey.widget().url)
      #expect(try await other.texts().isEmpty)
    }
  }

  @Test func `after the folder is removed, storing throws and reading returns nothing`() async throws {
    try await withFolder { parent in
      let folder = parent.appendingPathComponent("cache")
      let cache = try open(folder)
      let writer = try await cache.store(.made(), for: .widget())
      try FileManager.default.removeItem(at: folder)
      try await writer.write(Data("a".utf8))
      await #expect(throws: (any Error).self) { try await writer.commit() }
      await #expect(throws: (any Error).self) { try await cache.put("abc") }
      #expect(try await cache.texts().isEmpty)
      await cache.removeAll()
      await cache.trim()
    }
  }

  @Test(
    arguments: [
      ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
      ("The quick brown fox jumps over the lazy dog", 0x0B24_2D36_1FDA_71BC),
    ] as [(String, UInt64)]) func `the checksum is XXH64`(text: String, expected: UInt64)
  {
    #expect(Checksum.of(text) == expected)
    #expect(Checksum.of(text, seed: 1) != expected)
  }

  @Test func `encodes and decodes times exactly`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      let response = StoredResponse.made(after: .random(in: 0..<1e9, using: &random))
      let head = DiskHead(.widget(), response)
      #expect(DiskHead(head.bytes) == head)
    }
  }

  @Test func `parses only file names that the cache writes`() {
    let name = DiskName(.widget(7, "c"), number: 0xFEDC_BA98_7654_3210)
    for kind in [DiskName.Kind.entry, .head, .part, .headPart] {
      #expect(name.of(kind).text.withCString { DiskName($0) } == name.of(kind))
    }
    let text = name.text
    for other in [
      "", "a", String(text.dropLast()), text + ".tmp", text + "0", text.uppercased(), "../" + text, text + ".head2",
    ] {
      #expect(other.withCString { DiskName($0) } == nil, "\(other)")
    }
  }
}
