import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite struct FilePartTests {
  private func sent(_ body: HTTPBody) async throws -> Data {
    let data = Shared(Data())
    try await body.readChunks { chunk in data.withLock { $0.append(chunk) } }
    return data.withLock { $0 }
  }

  @Test(arguments: [
    (ByteRange(0..<3), 0..<3), (ByteRange(2..<600_000), 2..<600_000), (.last(5), 699_995..<700_000),
    (ByteRange(699_999...), 699_999..<700_000), (ByteRange(5..<9_000_000), 5..<700_000),
    (.last(9_000_000), 0..<700_000),
  ]) func `a part of a file has its length, and is sent as often as wanted`(range: ByteRange, part: Range<Int>)
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

  @Test func `a part that is not there, a file that is not, and one that was cut are errors`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data(count: 10).write(to: file)
      for range in [ByteRange(10...), ByteRange(3..<3), .last(0), ByteRange((-2)...)] {
        let error = #expect(throws: TaskError.self) { try HTTPBody.file(file, bytes: range) }
        #expect(error?.code == .unreadableBody && error?.isSurelyNotSent == true)
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
