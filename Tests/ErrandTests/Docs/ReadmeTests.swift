import Foundation
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1))) struct ReadmeTests {
  private static let readme = DocumentedCode.package.appendingPathComponent("README.md")

  /// The README and the guides. `.ci/documentation` builds and runs "Getting started" separately.
  private static let guides: [URL] = {
    let folder = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errand.docc")
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (names ?? []).filter { $0.hasSuffix(".md") && $0 != "GettingStarted.md" }.sorted()
      .map { folder.appendingPathComponent($0) }
  }()

  /// The landing pages of the other modules that contain code.
  private static let pages = ["ErrandTransfers", "ErrandInspection"].map {
    DocumentedCode.package.appendingPathComponent("Sources/\($0)/\($0).docc/\($0).md")
  }

  @Test(arguments: [readme] + guides + pages)
  func `every code block in the README and the guides is compiled`(_ document: URL) throws {
    let blocks = DocumentedCode.blocks(
      in: try DocumentedCode.lines(of: document), opens: { $0 == "```swift" }, closes: { $0 == "```" })
    // The guides show tests from this folder.
    let sources = try DocumentedCode.sources(in: "Examples/Snippets")
      .merging(DocumentedCode.sources(in: "Tests/ErrandTests/Docs")) { snippet, _ in snippet }
    #expect(!blocks.isEmpty, "the document has no code blocks")
    for block in blocks {
      let missing = sources.mapValues { DocumentedCode.firstLine(of: block, missingFrom: $0) }
      #expect(
        missing.values.contains(nil),
        "no snippet contains the block that begins with '\(block.first ?? "")'; the missing lines are \(missing)")
    }
  }

  @Test func `firstLine finds missing and reordered lines`() {
    let source = ["import Errand", "func f() {", "a()", "b()", "}"]
    #expect(DocumentedCode.firstLine(of: ["a()", "b()"], missingFrom: source) == nil)
    #expect(DocumentedCode.firstLine(of: ["b()", "a()"], missingFrom: source) == "a()")
    #expect(DocumentedCode.firstLine(of: ["a()", "a()"], missingFrom: source) == "a()")
    #expect(DocumentedCode.firstLine(of: ["a()", "c()"], missingFrom: source) == "c()")
  }

  @Test func `ignores an unclosed code block`() {
    let lines = ["text", "```swift", "a()", "", "b()", "```", "```", "swift test", "```", "```swift", "c()"]
    let blocks = DocumentedCode.blocks(in: lines, opens: { $0 == "```swift" }, closes: { $0 == "```" })
    #expect(blocks == [["a()", "b()"]])
  }

  @Test func `the tour runs every line of code that it shows`() throws {
    let opens = ["\"\"\"", "#\"\"\""]
    let closes = ["\"\"\"", "\"\"\"#"]
    for (name, lines) in try DocumentedCode.sources(in: "Examples/Tour") where name.hasSuffix("Steps.swift") {
      let shown = DocumentedCode.blocks(in: lines, opens: opens.contains, closes: closes.contains).joined()
      #expect(!shown.isEmpty)
      for line in Set(shown) where line != "…" {
        #expect(try Self.tour.contains(line), "\(name) shows '\(line)', but the tour does not run it")
      }
    }
  }

  /// The tour's code, without the listings that the tour prints.
  private static var tour: Set<String> {
    get throws {
      var code: Set<String> = []
      for lines in try DocumentedCode.sources(in: "Examples/Tour").values {
        var isShown = false
        for line in lines {
          if ["\"\"\"", "#\"\"\"", "\"\"\"#"].contains(line) { isShown.toggle() }
          if !isShown { code.insert(line) }
        }
      }
      return code
    }
  }
}
