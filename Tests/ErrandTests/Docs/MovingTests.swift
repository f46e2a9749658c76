import Foundation
import Testing

/// Checks that the code in the pages about moving from other libraries is compiled.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct MovingTests {
  private static let pages = [
    "FromAlamofire", "FromConvey", "FromFetcher", "FromGTMSessionFetcher", "FromNitroConnection", "FromRxHttpClient",
  ]

  @Test func `the README links to every page, and every page is checked`() throws {
    let folder = DocumentedCode.package.appendingPathComponent("Docs/moving")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    #expect(files.sorted() == Self.pages.map { $0 + ".md" })
    let readme = try DocumentedCode.lines(of: DocumentedCode.package.appendingPathComponent("README.md")).joined()
    for file in files { #expect(readme.contains("(Docs/moving/\(file))"), "the README does not link to \(file)") }
  }

  @Test(arguments: pages) func `all code in the right column is compiled`(_ page: String) throws {
    let rows = try DocumentedCode.rows(of: "Docs/moving/\(page).md").filter { $0.last != "Errand" }
    #expect(rows.count >= 12, "\(page) has only \(rows.count) rows")
    let sources = try Self.sources
    for row in rows {
      #expect(row.count == 2, "\(page): a row needs two columns: \(row)")
      for span in Self.spans(in: row.last ?? "") {
        let code = Self.squeezed(span)
        #expect(sources.contains { $0.contains(code) }, "\(page): no snippet contains '\(span)'")
      }
    }
  }

  @Test func `finds the code spans in a table cell`() {
    #expect(Self.spans(in: "Use `a()` or `b { $0 }`.") == ["a()", "b { $0 }"])
    #expect(Self.spans(in: "`a()`") == ["a()"])
    #expect(Self.spans(in: "There is none.").isEmpty)
  }

  /// The snippets without comments and whitespace.
  private static var sources: [String] {
    get throws {
      try DocumentedCode.sources(in: "Examples/Snippets").values.map { lines in
        squeezed(lines.filter { !$0.hasPrefix("//") }.joined())
      }
    }
  }

  private static func spans(in cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
