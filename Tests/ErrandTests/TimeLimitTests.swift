import Foundation
import Testing

/// Checks that every suite has a time limit, so that a test fails if it hangs.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct TimeLimitTests {
  /// The literal is split because `FaultTests` counts its occurrences in each file.
  private static let mark = "@" + "Test"

  private struct Declaration {
    let indent: Int
    let name: Substring
    /// Whether the type or an enclosing type has a time limit.
    let isLimited: Bool
  }

  /// Returns the number of tests in a source file, and the types whose tests have no time limit.
  ///
  /// The indentation shows which type a test belongs to.
  private func survey(_ source: String) -> (tests: Int, unlimited: Set<Substring>) {
    var tests = 0
    var unlimited: Set<Substring> = []
    var types: [Declaration] = []
    var attribute: String?
    for line in source.split(separator: "\n") {
      let code = line.drop { $0 == " " }
      let indent = line.utf8.count - code.utf8.count
      if code.hasPrefix("//") { continue }
      if code.hasPrefix(Self.mark) {
        tests += 1
        let suite = types.last { $0.indent < indent }
        if suite?.isLimited != true { unlimited.insert(suite?.name ?? "no type") }
      }
      if code.hasPrefix("@Suite") { attribute = "" }
      attribute?.append(contentsOf: code)
      guard let name = declaredType(code) else { continue }
      types.removeAll { $0.indent >= indent }
      let isLimited = attribute?.contains(".timeLimit(") == true || types.last?.isLimited == true
      types.append(Declaration(indent: indent, name: name, isLimited: isLimited))
      attribute = nil
    }
    return (tests, unlimited)
  }

  private func declaredType(_ code: Substring) -> Substring? {
    let words = code.split(separator: " ")
    guard let index = words.firstIndex(where: { ["struct", "class", "actor", "enum", "extension"].contains($0) }),
      index + 1 < words.count
    else { return nil }
    return words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  @Test func `every suite has a time limit`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    var tests = 0
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let found = survey(try String(contentsOf: file, encoding: .utf8))
      tests += found.tests
      let names = found.unlimited.sorted().joined(separator: ", ")
      #expect(names.isEmpty, "\(file.lastPathComponent): add `.timeLimit(.minutes(1))` to the @Suite of \(names)")
    }
    #expect(tests > 2000)
  }

  private static let samples: [(source: String, unlimited: Set<Substring>)] = [
    ("@Suite struct A {\n  \(mark) func b() {}\n}", ["A"]),
    ("struct A {\n  \(mark) func b() {}\n}", ["A"]),
    ("@Suite(.timeLimit(.minutes(1))) struct A {}\nstruct B {\n  \(mark) func c() {}\n}", ["B"]),
    ("@Suite(\n  .serialized,\n  .timeLimit(.minutes(1)))\nstruct A {\n  struct B {}\n\n  \(mark) func c() {}\n}", []),
    ("@Suite(.timeLimit(.minutes(1))) struct A {\n  @Suite struct B {\n    \(mark) func c() {}\n  }\n}", []),
  ]

  @Test(arguments: samples)
  func `detects a suite without a time limit`(source: String, unlimited: Set<Substring>) {
    #expect(survey(source).unlimited == unlimited)
  }
}
