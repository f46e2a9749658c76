import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct FilePartTests {
  private func sent(_ body: HTTPBody) async throws -> Data {
    let data = Shared(Data())
    try await body.readChunks { chunk in data.withLock { $0.append(chunk) } }
    return data.withLock { $0 }
  }

  @Test(arguments: [
    (ByteRange(0..<3), 0..<3), (ByteRange(2..<600_000), 2..<600_000), (.last(5), 699_995..<700_000),
    (ByteRange(699_999...), 699_999..<700_000), (ByteRange(5..<9_000_000), 5..<700_000),
    (.last(9_000_000), 0..<700_000),
  ]) func `a file range has a length and can be resent`(range: ByteRange, part: Range<Int>)
    async throws
  {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let all = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try all.write(to: file)
      let body = try HTTPBody.file(file, bytes: range, type: "text/x")
      #expect(try body.length() == Int64(part.count) && body.isReplayable && body.mediaType == "text/x")
      for _ in 0..<2 { #expect(try await sent(body) == all[part]) }
    }
  }

  @Test func `rejects a range of a web URL`() throws {
    let url = try #require(URL(string: "https://shop.test/etc/passwd"))
    let error = #expect(throws: TaskError.self) { try HTTPBody.file(url, bytes: .first(1)) }
    #expect(error?.code == .unreadableBody)
  }

  #if os(Linux)
    private static let version = URL(fileURLWithPath: "/proc/version")

    @Test func `reads a file of unknown size to its end`() async throws {
      let content = try Data(contentsOf: Self.version)
      let body = HTTPBody.file(Self.version)
      #expect(try body.length() == nil && !content.isEmpty)
      for _ in 0..<2 { #expect(try await sent(body) == content) }
      let form = MultipartForm([.text("a", "b"), .file("file", Self.version)])
      let whole = try form.body()
      #expect(try whole.length() == nil)
      #expect(try await sent(whole).firstRange(of: content) != nil)
      let compressed = try #require(try body.gzipped())
      var decompressing = Unpacking([.gzip], DecodingLimits(maximumSize: 1 << 20, maximumRatio: 200), mayBeEmpty: false)
      decompressing.feed(try await sent(compressed))
      decompressing.feed(nil)
      guard case .take(let data) = try decompressing.whole(upTo: .max) else { throw CocoaError(.coderReadCorrupt) }
      #expect(data == content)
    }

    @Test func `rejects a range if the file's size is unknown, and explains why`() {
      let error = #expect(throws: TaskError.self) { try HTTPBody.file(Self.version, bytes: .first(1)) }
      #expect(error?.code == .unreadableBody && error?.reason.contains("size") == true)
    }
  #endif

  @Test func `an empty file has length 0`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      #expect(try HTTPBody.file(file).length() == 0)
    }
  }

  @Test func `throws for an invalid range, a folder, and a truncated or deleted file`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data(count: 10).write(to: file)
      for range in [ByteRange(10...), ByteRange(3..<3), .last(0), ByteRange((-2)...)] {
        let error = #expect(throws: TaskError.self) { try HTTPBody.file(file, bytes: range) }
        #expect(error?.code == .unreadableBody && error?.wasNotSent == true)
      }
      #expect(throws: TaskError.self) { try HTTPBody.file(folder, bytes: ByteRange(0...)) }
      let body = try HTTPBody.file(file, bytes: ByteRange(2...))
      try Data(count: 5).write(to: file)
      let cut = await #expect(throws: TaskError.self) { try await sent(body) }
      #expect(cut?.code == .bodyLengthMismatch)
      try FileManager.default.removeItem(at: file)
      let gone = await #expect(throws: TaskError.self) { try await sent(body) }
      #expect(gone?.code == .unreadableBody)
    }
  }
}
