import Foundation
import Testing

/// Checks the direction of dependencies between folders, because the compiler doesn't. A file's chapter is the deepest
/// folder that is one, such as `Admission` in `Manager/Admission`.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct ChapterTests {
  /// The chapters in order. A chapter can depend on earlier chapters, and the front can depend on every chapter.
  private static let chapters = [
    "Concurrency", "HTTP", "Record", "Errors", "Policies", "Bodies", "Events", "Transport", "Steps", "Admission",
    "Circuits",
  ]
  /// These folders can depend on each other and on every chapter before them.
  private static let front = ["Tasks", "Server", "Recording", "Calls", "Manager"]
  /// The folders after the front. Each can depend on the front and on earlier folders.
  private static let backs = ["Batches", "Handles"]

  private static let all = chapters + front + backs

  private struct SourceFile {
    let path: String
    let chapter: String
    /// The code without comments and string literals.
    let code: String
  }

  private static func sources(in folder: String) throws -> [SourceFile] {
    try #require(sources.get()[folder])
  }

  private static let modules = ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandTesting", "ErrandFoundation"]

  /// The code by folder, read once for all tests.
  private static let sources = Result {
    try Dictionary(uniqueKeysWithValues: modules.map { ($0, try read($0)) })
  }

  private static func read(_ folder: String) throws -> [SourceFile] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources").appendingPathComponent(folder)
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }.map { file in
      let path = file.path.dropFirst(root.path.count + 1)
      let text = try String(contentsOf: file, encoding: .utf8)
      let folders = path.split(separator: "/").dropLast().map(String.init)
      let chapter = folders.last { all.contains($0) } ?? folders.first ?? ""
      return SourceFile(path: String(path), chapter: chapter, code: stripped(text))
    }
  }

  private static func stripped(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.replacing(/"(?:[^"\\]|\\.)*"/, with: "\"\"").replacing(/\/\/.*/, with: "")
    }.joined(separator: "\n")
  }

  private static var keyword: Regex<(Substring, Substring)> {
    /\b(?:struct|class|enum|actor|protocol|typealias) +(\w+)/
  }

  /// Returns the chapter of each type that is declared at the top level of a file.
  private static func declarations(_ files: [SourceFile]) -> [String: String] {
    var result: [String: String] = [:]
    for file in files {
      var depth = 0
      for line in file.code.split(separator: "\n") {
        if depth == 0, let match = line.firstMatch(of: keyword) { result[String(match.1)] = file.chapter }
        depth += line.count { $0 == "{" } - line.count { $0 == "}" }
      }
    }
    return result
  }

  /// Returns the type names that a file uses but does not declare.
  private static func words(_ code: String) -> Set<String> {
    let own = code.matches(of: keyword).map { String($0.1) }
    return Set(code.matches(of: /\b[A-Z]\w+/).map { String($0.0) }).subtracting(own)
  }

  @Test func `a file uses only types from its own or an earlier chapter`() throws {
    let files = try Self.sources(in: "Errand")
    #expect(files.count > 80)
    let homes = Self.declarations(files)
    #expect(homes["Lock"] == "Concurrency" && homes["TaskError"] == "Errors" && homes["CurlLoop"] == "Transport")
    let order = Self.all
    for file in files {
      // Treat the front as a single chapter.
      guard let own = order.firstIndex(of: Self.front.contains(file.chapter) ? "Manager" : file.chapter) else {
        continue
      }
      for word in Self.words(file.code).sorted() {
        guard let home = homes[word] else { continue }
        let index = order.firstIndex(of: home) ?? .max
        #expect(index <= own, "\(file.path) names \(word) of \(home)")
      }
    }
  }

  @Test func `every file is in a chapter`() throws {
    let known = Set(Self.all)
    for file in try Self.sources(in: "Errand") { #expect(known.contains(file.chapter), "\(file.path)") }
  }

  @Test func `the library has ten folders`() throws {
    let folders = Set(try Self.sources(in: "Errand").map { String($0.path.prefix { $0 != "/" }) })
    #expect(
      folders == [
        "Calls", "Concurrency", "Errors", "HTTP", "Manager", "Observers", "Server", "Steps", "Tasks", "Transport",
      ])
  }

  @Test func `no folder contains more than 22 files`() throws {
    for module in ["Errand", "ErrandTransfers", "ErrandInspection"] {
      let rooms = Dictionary(grouping: try Self.sources(in: module).map(\.path)) { path in
        path.split(separator: "/").dropLast().joined(separator: "/")
      }
      for (room, files) in rooms { #expect(files.count <= 22, "\(module)/\(room)") }
    }
  }

  @Test(arguments: ["fatalError(", "preconditionFailure(", "try!", "as!", "print("])
  func `the library neither traps nor prints`(word: String) throws {
    for folder in Self.modules where folder != "ErrandFoundation" {
      for file in try Self.sources(in: folder) where file.code.contains(word) {
        let pattern = try Regex("(?:^|[^\\w.])" + NSRegularExpression.escapedPattern(for: word))
        #expect(!file.code.contains(pattern), "\(folder)/\(file.path) has \(word)")
      }
    }
  }

  @Test func `Foundation is imported only if FoundationEssentials is unavailable`() throws {
    for folder in Self.modules {
      for file in try Self.sources(in: folder) where !file.path.hasPrefix("Transport/URLSession/") {
        let lines = file.code.split(separator: "\n")
        for (index, line) in lines.enumerated() where line.hasSuffix("import Foundation") {
          #expect(index > 0 && lines[index - 1].hasSuffix("#else"), "\(folder)/\(file.path)")
        }
      }
    }
  }

  @Test func `at most three files use unchecked sendability`() throws {
    let files = try Self.modules.flatMap { try Self.sources(in: $0) }
      .filter { $0.code.contains("@unchecked Sendable") }.map(\.path)
    #expect(files.count <= 3, "\(files)")
  }
}
