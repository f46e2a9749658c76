import Dispatch
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(10))) struct DiskFolderTests {
  private let name = DiskName(.widget(), number: 7)

  @Test func `a file that is being written is never taken for one that was left behind`() async throws {
    try await withFolder { url in
      let folder = try DiskFolder(url)
      let (isOver, hasEnded, counts) = (Shared(false), Shared(false), Shared(0))
      DispatchQueue.global().async {
        while !isOver.withLock({ $0 }) {
          folder.withShard("abc", making: true) { _ = DiskCache.files(in: $0) }
          counts.withLock { $0 += 1 }
        }
        hasEnded.withLock { $0 = true }
      }
      #expect(await eventually { counts.withLock { $0 > 0 } })
      let part = name.of(.part).text
      var found = 0
      for _ in 0..<5000 {
        try folder.withShard("abc") { shard in
          let file = try DiskFolder.create(part, in: shard)
          if DiskFolder.status(of: part, in: shard) != nil { found += 1 }
          DiskFolder.removeFile(part, in: shard)
          close(file)
        }
      }
      isOver.withLock { $0 = true }
      #expect(found == 5000)
      #expect(await eventually { hasEnded.withLock { $0 } })
    }
  }
}
