import ErrandFoundation

/// Splits a command line into words as a POSIX shell does, without running or expanding anything.
///
/// It supports quotes, backslashes, `$'…'`, comments, and `printf` whose output is a word or is piped into the next
/// command. All other shell features are rejected.
struct ShellWords {
  typealias Word = [UInt8]

  struct Refusal: Error {
    let reason: String
  }

  private let bytes: [UInt8]
  private var position = 0
  /// The nesting depth of `$(…)`, which the input controls.
  private var depth = 0

  /// Returns a command's words, and the output of the `printf` piped into it, if any.
  static func command(in line: String) throws(Refusal) -> (words: [Word], input: Word?) {
    var parser = ShellWords(bytes: Array(line.utf8))
    var commands = try parser.pipeline(until: nil)
    guard let last = commands.popLast() else { throw Refusal(reason: "the command is missing") }
    guard commands.count < 2 else { throw Refusal(reason: "more than one command is piped into curl") }
    return (last, try commands.first.map { words throws(Refusal) in try printed(words) })
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads the commands up to `end`, or up to the end of the line.
  private mutating func pipeline(until end: UInt8?) throws(Refusal) -> [[Word]] {
    var commands: [[Word]] = []
    var words: [Word] = []
    var isEnded = false
    while true {
      skipBlanks()
      guard let byte = next else {
        guard end == nil else { throw Refusal(reason: "a parenthesis is not closed") }
        break
      }
      if byte == end { break }
      switch byte {
      case UInt8(ascii: "|"):
        position += 1
        while next == 0x0A || next == 0x0D { position += 1 }
        commands.append(words)
        words = []
      case 0x0A, 0x0D:
        position += 1
        isEnded = true
      case UInt8(ascii: "#"): while let byte = next, byte != 0x0A { position += 1 }
      default:
        if isEnded, !words.isEmpty {
          throw Refusal(reason: "a line break inside the command is not escaped with a backslash")
        }
        words.append(try word())
        isEnded = false
      }
    }
    if !words.isEmpty || !commands.isEmpty { commands.append(words) }
    guard !commands.contains([]) else { throw Refusal(reason: "one side of a '|' is empty") }
    return commands
  }

  private mutating func skipBlanks() {
    while let byte = next {
      if byte == 0x20 || byte == 0x09 {
        position += 1
      } else if byte == UInt8(ascii: "\\"), let length = lineBreak(at: position + 1) {
        position += 1 + length
      } else {
        return
      }
    }
  }

  private func lineBreak(at place: Int) -> Int? {
    let rest = bytes[min(place, bytes.count)...]
    if rest.first == 0x0A { return 1 }
    return rest.starts(with: [0x0D, 0x0A]) ? 2 : nil
  }

  // MARK: Words

  private mutating func word() throws(Refusal) -> Word {
    var word: Word = []
    while let byte = next {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "|"): return word
      case UInt8(ascii: ")") where depth > 0: return word
      case UInt8(ascii: "'"): word += try singleQuoted()
      case UInt8(ascii: "\""): word += try doubleQuoted()
      case UInt8(ascii: "\\"): word += escaped { _ in true }
      case UInt8(ascii: "$"): word += try dollar(isQuoted: false)
      case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("),
        UInt8(ascii: ")"), UInt8(ascii: "`"):
        let sign = Unicode.Scalar(byte)
        throw Refusal(reason: "'\(sign)' outside quotes is not supported: put the word in single quotes")
      default:
        word.append(byte)
        position += 1
      }
    }
    return word
  }

  private mutating func singleQuoted() throws(Refusal) -> Word {
    guard let end = bytes[(position + 1)...].firstIndex(of: UInt8(ascii: "'")) else {
      throw Refusal(reason: "a single quote is not closed")
    }
    defer { position = end + 1 }
    return Word(bytes[(position + 1)..<end])
  }

  private mutating func doubleQuoted() throws(Refusal) -> Word {
    var word: Word = []
    position += 1
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return word
      case UInt8(ascii: "\\"): word += escaped { "$`\"\\".utf8.contains($0) }
      case UInt8(ascii: "$"): word += try dollar(isQuoted: true)
      case UInt8(ascii: "`"): throw Refusal(reason: "command substitution with backticks is not supported")
      default:
        word.append(byte)
        position += 1
      }
    }
    throw Refusal(reason: "a double quote is not closed")
  }

  /// Reads a backslash and the next byte. Keeps the backslash if the byte is not special.
  private mutating func escaped(_ isSpecial: (UInt8) -> Bool) -> Word {
    position += 1
    if let length = lineBreak(at: position) {
      position += length
      return []
    }
    guard let byte = next else { return [UInt8(ascii: "\\")] }
    position += 1
    return isSpecial(byte) ? [byte] : [UInt8(ascii: "\\"), byte]
  }

  private mutating func dollar(isQuoted: Bool) throws(Refusal) -> Word {
    position += 1
    switch next {
    case UInt8(ascii: "'") where !isQuoted:
      position += 1
      var reader = EscapeReader(bytes, at: position, style: .dollarQuotes)
      guard let word = reader.read(until: UInt8(ascii: "'")) else { throw Refusal(reason: "a $' quote is not closed") }
      position = reader.position + 1
      return word
    case UInt8(ascii: "("):
      guard depth < 1 else { throw Refusal(reason: "'$(…)' is supported only for printf") }
      position += 1
      depth += 1
      let commands = try pipeline(until: UInt8(ascii: ")"))
      depth -= 1
      position += 1
      guard commands.count == 1, commands[0].first == Word("printf".utf8) else {
        throw Refusal(reason: "'$(…)' is supported only for printf")
      }
      var word = try Self.printed(commands[0])
      while word.last == 0x0A { word.removeLast() }
      return word
    case let byte? where "{_0123456789@*#?$!-".utf8.contains(byte) || Unicode.Scalar(byte).properties.isAlphabetic:
      throw Refusal(reason: "variables are not expanded: use the value, or put the word in single quotes")
    default: return [UInt8(ascii: "$")]
    }
  }

  // MARK: printf

  private static func printed(_ words: [Word]) throws(Refusal) -> Word {
    guard words.count > 1, words[0] == Word("printf".utf8) else {
      throw Refusal(reason: "only the output of printf can be piped into curl")
    }
    if words[1] == Word("%s".utf8) { return Word(words.dropFirst(2).joined()) }
    guard words.count == 2 else { throw Refusal(reason: "the only supported printf format is %s") }
    var reader = EscapeReader(words[1], at: 0, style: .printf)
    let output = reader.read(until: nil) ?? []
    guard !reader.hasDirective else { throw Refusal(reason: "the only supported printf format is %s") }
    return output
  }
}
