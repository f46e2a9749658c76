import Foundation
import Testing

/// Runs the fuzzing corpus as tests: the seeds and the inputs that the fuzzer has found.
@Suite(.timeLimit(.minutes(1)))
struct CorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Corpus")

  @Test(arguments: FuzzTarget.all.map(\.name)) func `the target's properties hold for every input in the corpus`(
    name: String
  ) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let folder = Self.corpus.appendingPathComponent(name)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 3)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      #expect(throws: Never.self, "\(name)/\(file.lastPathComponent)") { try target.check(bytes) }
    }
  }

  @Test(arguments: FuzzTarget.all.map(\.name)) func `the target's properties hold for hostile inputs`(name: String)
    throws
  {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    for (index, input) in target.hostile.enumerated() {
      #expect(throws: Never.self, "\(name) \(index)") { try target.check(input(600)) }
    }
  }

  @Test func `every target has a corpus, and every corpus has a target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }
}
