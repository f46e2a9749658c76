import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The tour's output: colors and a live line on a terminal, plain lines elsewhere.
struct Page: Sendable {
  let isTerminal: Bool
  let hasColors: Bool

  /// Standard output, without colors if it is not a terminal or `NO_COLOR` is set.
  static let standardOutput: Page = {
    let environment = ProcessInfo.processInfo.environment
    let isTerminal = isatty(1) == 1 && environment["TERM"] != "dumb"
    return Page(isTerminal: isTerminal, hasColors: isTerminal && environment["NO_COLOR"] == nil)
  }()

  func line(_ text: String) { put("\(text)\n") }

  func title(_ number: String, _ text: String) { line("\n\(styled(number, .dim))  \(styled(text, .bold))\n") }

  func code(_ text: String) {
    for row in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line("  \(styled("│", .dim) + (row.isEmpty ? "" : " \(styled(String(row), .cyan))"))")
    }
    line("")
  }

  /// Prints what happened.
  func say(_ text: String) { line("  → \(text)") }

  /// Prints quoted text, such as an echo or a record.
  func quote(_ text: String) {
    var rows = text.split(separator: "\n", omittingEmptySubsequences: false)
    while rows.last?.isEmpty == true { rows.removeLast() }
    for row in rows { line(row.isEmpty ? "" : "    \(styled(String(row), .dim))") }
  }

  func done(_ time: Duration) { line("  \(styled("✓", .green)) \(styled(time.inWords, .dim))") }

  /// Prints progress: a single updated line on a terminal, or a line per quarter elsewhere.
  func progress(_ count: Int, of total: Int, _ remark: String) {
    let text = "\(count)/\(total)\(remark)"
    guard isTerminal else {
      if count * 4 % total < 4 { say(text) }
      return
    }
    let filled = 32 * count / total
    let bar = String(repeating: "━", count: filled)
    let rest = String(repeating: "━", count: 32 - filled)
    // Return to the start of the line and erase it.
    put("\r\u{1B}[2K  → \(styled(bar, .green) + styled(rest, .dim)) \(text)" + (count == total ? "\n" : ""))
  }

  /// Prints an error to standard error.
  func complain(_ text: String) {
    let start = isTerminal ? "\r\u{1B}[2K" : ""
    LogOutput.standardError.write("\(start)errand-tour: \(text)")
  }

  /// Exits with `code`.
  func leave(_ code: Int32) -> Never { exit(code) }

  private enum Style: Int {
    case bold = 1
    case dim = 2
    case green = 32
    case cyan = 36
  }

  private func styled(_ text: String, _ style: Style) -> String {
    hasColors && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  private func put(_ text: String) {
    // A closed pipe, for example with `head`, must not fail the tour.
    var text = text
    text.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}

extension Duration {
  /// The duration formatted for people, such as `4 ms` or `1.25 s`.
  var inWords: String {
    let milliseconds = Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
    if milliseconds < 10 { return "\((milliseconds * 10).rounded() / 10) ms" }
    return milliseconds < 1000 ? "\(Int(milliseconds)) ms" : "\((milliseconds / 10).rounded() / 100) s"
  }
}
