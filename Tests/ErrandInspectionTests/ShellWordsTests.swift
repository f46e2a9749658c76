import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct ShellWordsTests {
  private func words(_ line: String) throws -> [String] {
    try ShellWords.command(in: line).words.map { String(decoding: $0, as: UTF8.self) }
  }

  private func refusal(_ line: String) -> String? {
    do {
      _ = try ShellWords.command(in: line)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test(arguments: [
    ("a b  c", ["a", "b", "c"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a'b'\"c\"d", ["abcd"]),
    ("a '' \"\"", ["a", "", ""]), (#"a\ b \'c\'"#, ["a b", "'c'"]), (#"'a'\''b'"#, ["a'b"]), ("a \\\n  b", ["a", "b"]),
    ("a \\\r\n  b", ["a", "b"]), ("a\\\nb", ["ab"]), (#""a\"b\\c\$d\n""#, [#"a"b\c$d\n"#]), ("a # b", ["a"]),
    ("a#b", ["a#b"]),
    ("\n# a\na b\n", ["a", "b"]), (#"$'a\n\x41\101\u00e9\'\e'"#, ["a\nAAé'\u{1B}"]), ("a$ '$b' $", ["a$", "$b", "$"]),
    (#""$(printf 'a\033b')""#, ["a\u{1B}b"]), (#"a$(printf '%%')b"#, ["a%b"]), ("'a\nb'", ["a\nb"]),
  ]) func `splits a line into words like a shell`(line: String, expected: [String]) throws {
    #expect(try words(line) == expected)
  }

  @Test(arguments: [
    ("a 'b", "single quote"), ("a \"b", "double quote"), ("a $'b", "$'"), ("a $b", "variable"),
    ("a \"${b}\"", "variable"),
    ("a `b`", "'`' outside quotes"), ("a $(b)", "'$(…)'"), ("a $(b", "parenthesis"), ("a $1", "variable"),
    ("a ; b", "';'"),
    ("a b&c", "'&'"),
    ("a > b", "'>'"),
    ("a\nb", "line break inside the command"), ("", "command is missing"), ("a | b", "printf"),
    ("printf '%d' 1 | a", "%s"),
    ("printf a | b | c", "more than one"),
    ("printf 'a' |", "one side"), ("$(printf \"$(printf a)\")", "'$(…)'"),
  ]) func `rejects a line with unsupported shell syntax`(line: String, reason: String) throws {
    let words = try #require(refusal(line))
    #expect(words.contains(reason), "\(words)")
  }

  @Test func `returns the output of printf as the input of the command`() throws {
    let (words, input) = try ShellWords.command(in: #"printf 'a\000\377%%b' |\#n  curl x"#)
    #expect(words == [Array("curl".utf8), Array("x".utf8)])
    #expect(input == [0x61, 0, 0xFF, 0x25, 0x62])
    #expect(try ShellWords.command(in: "printf %s 'a\nb' | c").input == Array("a\nb".utf8))
  }

  @Test func `quoted text and bytes can be read back unchanged`() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<2000 {
      let scalars = (0..<Int.random(in: 0..<12, using: &random)).compactMap { _ in
        Unicode.Scalar(Bool.random(using: &random) ? .random(in: 1..<0x400, using: &random) : 0x27)
      }
      let text = String(String.UnicodeScalarView(scalars)).trimmingLineBreaks
      #expect(try words("a \(ShellText.quoted(text))") == ["a", text])
      let bytes = (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(try ShellWords.command(in: "\(ShellText.printf(bytes)) | a").input == bytes)
    }
  }

  @Test func `no line causes an endless loop or a trap`() {
    var random = SeededGenerator(seed: 4)
    let signs = Array("ab '\"\\$(){}|;&<>`#%\n\r\tprintf x0")
    for _ in 0..<20_000 {
      let line = String(
        (0..<Int.random(in: 0..<24, using: &random)).compactMap { _ in signs.randomElement(using: &random) })
      _ = try? ShellWords.command(in: line)
    }
  }
}

extension String {
  /// Removes trailing line breaks, which a shell drops from a command's output.
  fileprivate var trimmingLineBreaks: String {
    var scalars = unicodeScalars
    while scalars.last == "\n" { scalars.removeLast() }
    return String(scalars)
  }
}
