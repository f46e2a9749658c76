import Foundation
import Testing

/// Checks that `Docs/COVERAGE.md` lists every feature with an API, a guide and a test that exist.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct CoverageTests {
  /// The rows of the table: ID, feature, API, guides and tests.
  private let rows: [[String]]

  init() throws { rows = try DocumentedCode.rows(of: "Docs/COVERAGE.md").filter { $0.first != "Row" } }

  @Test func `lists every feature once and leaves no cell empty`() {
    let counts = [("C", 28), ("G", 27), ("R", 9), ("F", 18), ("N", 8), ("B", 8), ("X", 10)]
    let ids = counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
    #expect(rows.map { $0.first } == ids)
    let incomplete = rows.filter { $0.count != 5 }  // empty cells are omitted
    #expect(incomplete.isEmpty)
  }

  @Test func `every name in the API column exists in the sources`() throws {
    let names = try Self.namesInSources
    #expect(names.count > 1000)
    for row in rows where row.count == 5 {
      // Every second part is between backticks.
      let quoted = row[2].split(separator: "`", omittingEmptySubsequences: false).enumerated().filter {
        $0.offset % 2 == 1
      }
      let missing = quoted.flatMap { Self.words(in: String($0.element)) }.filter { !names.contains($0) }
      #expect(missing.isEmpty, "\(row[0]): the sources do not contain \(missing)")
    }
  }

  @Test func `every section in the guide column exists in its guide`() throws {
    for row in rows where row.count == 5 {
      for entry in row[3].split(separator: "; ") {
        let match = try #require(entry.wholeMatch(of: /`([^`]+\.md)`: (.+)/), "\(row[0]): \(entry)")
        let (name, section) = (String(match.1), String(match.2))
        let guide = "Sources/Errand/Errand.docc/\(name)"
        let exists = FileManager.default.fileExists(atPath: DocumentedCode.package.appendingPathComponent(guide).path)
        let lines = try DocumentedCode.lines(of: DocumentedCode.package.appendingPathComponent(exists ? guide : name))
        #expect(lines.contains("## \(section)") || lines.contains("### \(section)"), "\(row[0]): \(entry)")
      }
    }
  }

  @Test func `every suite in the test column exists in its file`() throws {
    for row in rows where row.count == 5 {
      for entry in row[4].split(separator: "; ") {
        let match = try #require(entry.wholeMatch(of: /`(\w+)` in `([\w\/]+\.swift)`/), "\(row[0]): \(entry)")
        let file = DocumentedCode.package.appendingPathComponent("Tests/\(match.2)")
        let suite = "struct \(match.1) {"
        #expect(try DocumentedCode.lines(of: file).contains { $0.hasSuffix(suite) }, "\(row[0]): \(entry)")
      }
    }
  }

  @Test func `the privacy manifest declares no tracking and no collected data`() throws {
    let file = DocumentedCode.package.appendingPathComponent("Sources/ErrandPrivacy/PrivacyInfo.xcprivacy")
    let text = try DocumentedCode.lines(of: file).joined()
    #expect(text.contains("<key>NSPrivacyTracking</key><false/>"))
    #expect(text.contains("<key>NSPrivacyCollectedDataTypes</key><array/>"))
  }

  /// The words in the library's code, without comments.
  private static var namesInSources: Set<String> {
    get throws {
      let folder = DocumentedCode.package.appendingPathComponent("Sources")
      let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      return try files.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
        let lines = try DocumentedCode.lines(of: folder.appendingPathComponent(file))
        for line in lines where !line.hasPrefix("//") { names.formUnion(words(in: line)) }
      }
    }
  }

  /// Returns the words of letters, digits and underscores in ASCII text.
  private static func words(in text: String) -> [String] {
    let words = text.utf8.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): false
      case UInt8(ascii: "0")...UInt8(ascii: "9"): false
      default: true
      }
    }
    return words.map { String(Substring($0)) }
  }
}
