import Dispatch
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DiskFolderTests {
  private let name = DiskName(.widget(), number: 7)

  @Test func `does not treat a file that is being written as a leftover`() async throws {
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

  @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a link"))
  func `rejects another user's link to a folder and leaves the folder unchanged`() async throws {
    try await withFolder { url in
      let target = url.appendingPathComponent("target")
      let link = url.appendingPathComponent("link")
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      #expect(chmod(target.path, 0o755) == 0 && symlink(target.path, link.path) == 0)
      _ = try DiskFolder(link)  // our own link
      #expect(chmod(target.path, 0o755) == 0 && lchown(link.path, 12345, 12345) == 0)
      let error = #expect(throws: TaskError.self) { try DiskFolder(link) }
      #expect(error?.reason.contains("another user") == true)
      var status = stat()
      #expect(stat(target.path, &status) == 0 && status.st_mode & 0o777 == 0o755)
    }
  }
}
