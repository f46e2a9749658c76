#if os(Linux)
  @testable import Errand
  import Foundation
  import Testing

  @Suite(.timeLimit(.minutes(1))) struct MemoryFileTests {
    @Test(arguments: [0, 1, 300_000])
    func `a memory file is readable at its path until its last reference is released`(size: Int) throws {
      let content = Data((0..<size).map { UInt8($0 & 255) })
      var file: MemoryFile? = MemoryFile(content)
      let path = try #require(file?.path)
      #expect(FileManager.default.contents(atPath: path) == content)
      let link = try FileManager.default.destinationOfSymbolicLink(atPath: path)
      file = nil
      #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != link)
    }
  }
#endif
