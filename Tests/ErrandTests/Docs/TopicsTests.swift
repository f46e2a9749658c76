import Foundation
import Testing

/// Checks that every public top-level type of a module is in a topic of its catalog.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct TopicsTests {
  @Test(arguments: ["Errand", "ErrandTransfers", "ErrandInspection", "ErrandTesting", "ErrandURLSession"])
  func `every public type is in a topic`(
    _ module: String
  ) throws {
    let types = try Self.types(of: module)
    #expect(types.count > (module == "ErrandURLSession" ? 1 : 10))
    let missing = types.subtracting(try Self.topics(of: module))
    #expect(missing.isEmpty, "not in any topic of \(module).docc: \(missing.sorted())")
  }

  @Test func `finds types in conditional blocks but not nested types`() {
    let code = """
      public struct A {
        public struct Inner {}
        #if DEBUG
          public enum Other {}
        #endif
      }
      #if os(Linux)
        public final class B: C {
          public actor Inner {}
        }
      #else
        public protocol D {}
      #endif
      struct E {}
      public typealias F = A
      """
    #expect(Self.types(in: code) == ["A", "B", "D", "F"])
  }

  /// Returns the names of a module's public top-level types.
  private static func types(of module: String) throws -> Set<String> {
    // The URLSession files have their own documentation. They are in two folders, and one folder is a symlink.
    let shared = "Sources/Errand/Transport/URLSession"
    let path = module == "ErrandURLSession" ? shared : "Sources/\(module)"
    let folder = DocumentedCode.package.appendingPathComponent(path)
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return try files.filter { $0.hasSuffix(".swift") && !"\(path)/\($0)".hasPrefix("\(shared)/") == (path != shared) }
      .reduce(into: []) { types, file in
        let code = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        // The documentation is built on Linux, without Apple-only files.
        if !code.hasPrefix("#if canImport(Darwin)\n") { types.formUnion(Self.types(in: code)) }
      }
  }

  /// Returns the names of the public top-level types. They are indented only by `#if` blocks.
  private static func types(in code: String) -> Set<String> {
    let declaration = /^( *)public (?:final |indirect )*(?:struct|enum|class|actor|protocol|typealias) (\w+)/
    var types: Set<String> = []
    var conditions = 0
    for line in code.split(separator: "\n") {
      let indentation = line.prefix { $0 == " " }.count
      if line.dropFirst(indentation).hasPrefix("#if"), indentation == 2 * conditions { conditions += 1 }
      if line.dropFirst(indentation).hasPrefix("#endif"), indentation == 2 * (conditions - 1) { conditions -= 1 }
      guard let match = line.firstMatch(of: declaration), match.1.count == 2 * conditions else { continue }
      types.insert(String(match.2))
    }
    return types
  }

  /// Returns the names in the topics of a catalog.
  private static func topics(of module: String) throws -> Set<String> {
    let folder = DocumentedCode.package.appendingPathComponent("Sources/\(module)/\(module).docc")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    return try pages.reduce(into: []) { topics, page in
      let lines = try DocumentedCode.lines(of: folder.appendingPathComponent(page))
      guard let start = lines.firstIndex(of: "## Topics") else { return }
      for line in lines[start...] {
        if let match = line.firstMatch(of: /^- ``(\w+)``/) { topics.insert(String(match.1)) }
      }
    }
  }
}
