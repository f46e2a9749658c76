import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PartialFileTests {
  /// Creates a folder and removes it afterwards.
  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-partial-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test func `discarding a file keeps the folders that a concurrent file needs`() async throws {
    try await withFolder { folder in
      for round in 0..<200 {
        let new = folder.appendingPathComponent("\(round)/a/b/c")
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            let file = try PartialFile(for: new.appendingPathComponent("good"))
            try file.write(Data("good".utf8))
            try file.publish()
          }
          group.addTask { try PartialFile(for: new.appendingPathComponent("bad")).discard() }
          try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: new.path) == ["good"])
      }
    }
  }
}
