import Foundation

/// Compares documented code with compiled code.
enum DocumentedCode {
  /// The package's folder.
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the lines of a file without their indentation.
  static func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Returns the lines of the Swift files in a folder of the package, by file name.
  static func sources(in folder: String) throws -> [String: [String]] {
    let folder = package.appendingPathComponent(folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try lines(of: folder.appendingPathComponent($0))) })
  }

  /// Returns the blocks between a line matched by `opens` and the next line matched by `closes`, without blank lines.
  static func blocks(in lines: [String], opens: (String) -> Bool, closes: (String) -> Bool) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in lines {
      if let lines = block {
        if closes(line) { blocks.append(lines) }
        block = closes(line) ? nil : line.isEmpty ? lines : lines + [line]
      } else if opens(line) {
        block = []
      }
    }
    return blocks
  }

  /// Returns the rows of a document's tables, including header rows, as arrays of cells.
  static func rows(of document: String) throws -> [[String]] {
    try lines(of: package.appendingPathComponent(document)).filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
  }

  /// Returns the first line of `block` that does not follow the previous lines in `source`, or `nil` if all lines do.
  static func firstLine(of block: [String], missingFrom source: [String]) -> String? {
    var rest = source[...]
    for line in block {
      guard let index = rest.firstIndex(of: line) else { return line }
      rest = rest[(index + 1)...]
    }
    return nil
  }
}
