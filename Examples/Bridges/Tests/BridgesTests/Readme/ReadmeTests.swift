import Foundation
import Testing

struct ReadmeTests {
  private static let snippets = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Snippets.swift")
  private static let readme = URL(fileURLWithPath: "../../../README.md", relativeTo: snippets).standardizedFileURL

  /// Returns the lines of a file without indentation.
  private static func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test func `every code block of the README is compiled`() throws {
    let source = try Self.lines(of: Self.snippets)
    let blocks = try String(contentsOf: Self.readme, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
    #expect(blocks.count == 3)
    for block in blocks {
      var rest = source[...]
      for line in block.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
        let index = rest.firstIndex(of: line)
        #expect(index != nil, "no snippet contains '\(line)' at this position")
        if let index { rest = rest[(index + 1)...] }
      }
    }
  }
}
