#if os(Linux)
  import Foundation
  import Testing

  /// Spellings of a task that the compiler refuses: none of them may compile and be ignored.
  @Suite struct SpellingCompilerTests {
    /// Each is the body of a task, and words of the error for it.
    private static let refused: [(body: String, words: String)] = [
      ("let path = 5", "a path is a String, or segments as [String]"),
      ("let path: String? = nil", "a path is a String"),
      ("let path = URL(fileURLWithPath: \"/a\")", "a path is a String"),
      ("let path: Substring = \"a\"", "a path is a String"),
      ("struct Odd: Sendable {}; let query = Odd()", "a query is an HTTPQuery, a dictionary"),
      ("let query = (\"a\", \"b\")", "a query is an HTTPQuery"),
      ("let query = [(\"a\", 1)]", "a query is an HTTPQuery"),
      ("struct Odd: Sendable {}; let headers = Odd()", "headers are HTTPHeaders, a dictionary"),
      ("let headers = [(\"a\", 1)]", "headers are HTTPHeaders"),
      ("let timeout = 5", "a timeout is a Duration, such as .seconds(5)"),
      ("let timeout = 5.0", "a timeout is a Duration"),
      ("let timeout: TimeInterval? = nil", "a timeout is a Duration"),
      ("let encoder = 5", "an encoder is a BodyEncoder"),
      ("let encoder = JSONDecoder()", "an encoder is a BodyEncoder"),
      ("let decoder = JSONEncoder()", "a decoder is a PayloadDecoder"),
      ("let payloadPath = 5", "a payload path is a key as String"),
      ("let payloadPath: String? = nil", "a payload path is a key as String"),
      ("struct Odd: Sendable {}; let parameters = Odd()", "parameters are a dictionary, or Encodable"),
      ("struct Odd: Sendable {}; typealias ErrorPayload = Odd", "does not conform to protocol 'ServerTask'"),
    ]

    /// What compiles, so that a folder without the library is not taken for a refusal.
    private static let accepted = [
      "let path = [\"a\"]", "let query = [\"a\": \"b\"]", "let headers = [(\"a\", \"b\")]",
      "let timeout: Duration? = nil", "let payloadPath = \"data\"", "let payloadPath = [\"data\", \"items\"]",
      "let encoder = FormEncoder()", "let decoder = JSONDecoder()", "let parameters = [\"a\": 1]",
    ]

    @Test func `a spelling that cannot be sent does not compile, and the error says what can`() async throws {
      let modules = try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent(
        "Modules")
      let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/CCurl/include")
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-spelling-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // what is left of it is of no use
      // One task a line, so that errors tell by their line which it was.
      let tasks =
        Self.refused.enumerated().map { "struct Refused\($0): ServerTask { \($1.body) }" }
        + Self.accepted.enumerated().map { "struct Accepted\($0): ServerTask { \($1) }" }
        + ["struct Both: ServerGETTask, ServerPOSTTask {}", "import Errand", "import Foundation", ""]
      try tasks.joined(separator: "\n").write(
        to: folder.appendingPathComponent("main.swift"), atomically: true, encoding: .utf8)
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let status = Shell.run(
        """
        export PATH='\(path)'
        cd '\(folder.path)' && swiftc -typecheck -swift-version 6 -diagnostic-style llvm -I '\(modules.path)' \
        -Xcc -fmodule-map-file='\(sources.path)/module.modulemap' -Xcc -I -Xcc '\(sources.path)' \
        -module-cache-path cache main.swift > errors 2>&1
        """)
      let said = try String(contentsOf: folder.appendingPathComponent("errors"), encoding: .utf8)
      let errors = said.split(separator: "\n").filter { $0.contains("error:") }
      try #require(status != 0 && !errors.isEmpty, "the compiler said '\(said)'")
      func isRefused(_ line: Int, _ words: String) -> Bool {
        errors.contains { $0.hasPrefix("main.swift:\(line + 1):") && $0.contains(words) }
      }
      for (line, task) in Self.refused.enumerated() { #expect(isRefused(line, task.words), "\(task.body): \(errors)") }
      for line in Self.accepted.indices { #expect(!isRefused(Self.refused.count + line, ""), "\(Self.accepted[line])") }
      #expect(isRefused(tasks.count - 4, "does not conform"), "a task that is GET and POST")
    }
  }
#endif
