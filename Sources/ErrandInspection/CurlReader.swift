import Errand
import ErrandFoundation

/// Builds a request from a `curl` command's words.
struct CurlReader {
  typealias Refusal = ShellWords.Refusal
  typealias Word = ShellWords.Word

  private var method: HTTPMethod?
  private var address: String?
  private(set) var headers = CurlHeader()
  private(set) var content = CurlContent()
  private var timeouts = Timeouts()
  private var isHead = false
  private var isGet = false
  private var isCompressed = false
  private var expandsURL = true
  private var keepsDots = false
  private(set) var followsRedirects = false
  private(set) var ignored: [String] = []

  /// Reads the command's words, beginning with the program name. `input` is standard input, if any.
  mutating func read(_ words: [Word], input: Word?) throws(Refusal) {
    content.input = input
    var words = words[...]
    if words.first == Word("$".utf8) { words.removeFirst() }  // a prompt copied from documentation
    let program = words.popFirst().map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard program.split(separator: "/").last == "curl" else { throw Refusal(reason: "it does not begin with 'curl'") }
    var isOver = false
    while let word = words.popFirst() {
      if isOver || word.first != UInt8(ascii: "-") || word.count < 2 {
        try set(url: Self.text(word))
      } else if word == Word("--".utf8) {
        isOver = true
      } else if word.starts(with: "--".utf8) {
        try read(option: Self.text(word[2...]), &words)
      } else {
        try read(letters: word.dropFirst(), &words)
      }
    }
  }

  /// Reads the short options in a word. If an option takes a value, the value is the rest of the word.
  private mutating func read(letters: Word.SubSequence, _ words: inout ArraySlice<Word>) throws(Refusal) {
    var letters = letters
    while let letter = letters.popFirst() {
      let short = Character(Unicode.Scalar(letter))
      guard let name = CurlOption.longName(of: short) else {
        throw Refusal(reason: "the option '-\(short)' is unknown")
      }
      if letters.isEmpty || !Self.takesValue(name) {
        try read(option: name, shown: "-\(short)", &words)
      } else {
        words.insert(Word(letters), at: words.startIndex)
        return try read(option: name, shown: "-\(short)", &words)
      }
    }
  }

  private static func takesValue(_ name: String) -> Bool {
    switch CurlOption.named(name) {
    case .used(let takesValue), .ignored(let takesValue): takesValue
    case .refused, nil: false
    }
  }

  private mutating func read(option name: String, shown: String? = nil, _ words: inout ArraySlice<Word>) throws(Refusal)
  {
    let shown = shown ?? "--\(name)"
    guard let option = CurlOption.named(name) else {
      // The text after `=` may be a secret.
      throw Refusal(reason: "the option '\(shown.prefix { $0 != "=" })' is unknown")
    }
    if case .refused(let reason) = option { throw Refusal(reason: "the option '\(shown)' is not supported: \(reason)") }
    var value: Word?
    if Self.takesValue(name) {
      guard let word = words.popFirst() else { throw Refusal(reason: "the option '\(shown)' has no value") }
      value = word
    }
    if case .ignored = option {
      ignored.append(
        (["\(shown)"] + [value.map { String(decoding: $0, as: UTF8.self) }].compactMap { $0 }).joined(separator: " "))
    } else if let value {
      try use(name, value)
    } else {
      use(name)
    }
  }

  // MARK: Options

  private mutating func use(_ name: String) {
    switch name {
    case "head": isHead = true
    case "get": isGet = true
    case "compressed": isCompressed = true
    case "globoff": expandsURL = false
    case "path-as-is": keepsDots = true
    default: followsRedirects = true
    }
  }

  private mutating func use(_ name: String, _ value: Word) throws(Refusal) {
    switch name {
    case "request": method = HTTPMethod(try Self.text(value))
    case "header": try headers.add(line: Self.text(value))
    case "user-agent": headers.setOrOmit(.userAgent, try Self.text(value))
    case "referer": headers.setOrOmit("Referer", try Self.text(value))
    case "cookie": try headers.add(cookies: Self.text(value))
    case "user": headers.set(user: value)
    case "oauth2-bearer": headers.set(.authorization, "Bearer \(try Self.text(value))")
    case "range": headers.set(.range, "bytes=\(try Self.text(value))")
    case "url": try set(url: Self.text(value))
    case "max-time": timeouts.attempt = try Self.seconds(value)
    case "connect-timeout": timeouts.connect = try Self.seconds(value)
    default: try content.add(name, value)
    }
  }

  private mutating func set(url: String) throws(Refusal) {
    guard address == nil else { throw Refusal(reason: "it has more than one URL: split it into several commands") }
    address = url
  }

  /// Returns the URL as curl interprets it: without backslashes before braces and brackets, and without braces around a
  /// single word. Throws for `{a,b}` and `[1-3]`, which stand for several URLs.
  private static func expanded(_ url: String) throws(Refusal) -> String {
    let several = Refusal(
      reason: "braces and brackets in a URL stand for several URLs: add '--globoff', or use a single URL")
    let marks = "{}[]".utf8
    var (read, rest): (Word, Word.SubSequence) = ([], Word(url.utf8)[...])
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        let isEscape = rest.first.map(marks.contains) ?? false
        read.append(isEscape ? rest.removeFirst() : byte)
      case UInt8(ascii: "["):
        // Allow only empty brackets and IPv6 addresses.
        guard let end = rest.firstIndex(of: UInt8(ascii: "]")), isHost(rest[..<end]) else { throw several }
        read += [byte] + rest[...end]
        rest = rest[(end + 1)...]
      case UInt8(ascii: "{"):
        let word = rest.prefix { !marks.contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\\") }
        guard !word.isEmpty, word.endIndex < rest.endIndex, rest[word.endIndex] == UInt8(ascii: "}") else {
          throw several
        }
        read += word
        rest = rest[(word.endIndex + 1)...]
      case UInt8(ascii: "}"), UInt8(ascii: "]"): throw several
      default: read.append(byte)
      }
    }
    return String(decoding: read, as: UTF8.self)
  }

  /// Whether the text in brackets is empty or an IPv6 address, optionally with a zone.
  private static func isHost(_ word: Word.SubSequence) -> Bool {
    let address = word.prefix { $0 != UInt8(ascii: "%") }
    return word.isEmpty
      || address.contains(UInt8(ascii: ":")) && address.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) }
  }

  /// Returns the URL without dot segments, as curl sends it (RFC 3986 §5.2.4).
  private static func withoutDots(_ url: URL) throws(Refusal) -> URL {
    guard var parts = URLComponents(string: url.absoluteString), parts.percentEncodedPath.contains("/.") else {
      return url
    }
    parts.percentEncodedPath = URIReference.withoutDots(parts.percentEncodedPath)
    guard let url = parts.url else { throw Refusal(reason: "its URL is invalid") }
    return url
  }

  private static func text(_ word: some Collection<UInt8>) throws(Refusal) -> String {
    guard let text = String(validating: word, as: UTF8.self) else { throw Refusal(reason: "an argument is not UTF-8") }
    return text
  }

  private static func seconds(_ word: Word) throws(Refusal) -> Duration {
    guard let seconds = Double(try text(word)), seconds > 0, seconds < 1e9 else {
      throw Refusal(reason: "a time limit is not a number of seconds")
    }
    return .seconds(seconds)
  }

  // MARK: The request

  var request: HTTPRequest {
    get throws(Refusal) {
      guard let address else { throw Refusal(reason: "it has no URL") }
      var text = expandsURL ? try Self.expanded(address) : address
      if isGet { text = content.adding(to: text) }
      let body = isGet ? .empty : try content.body
      if isHead, !body.isEmpty { throw Refusal(reason: "a HEAD request cannot have a body: remove the data or '-I'") }
      if let name = content.uploadName, text.hasSuffix("/") { text += HTTPQuery.escaped(name) }
      var headers = headers
      var url = try headers.url(text)
      if !keepsDots { url = try Self.withoutDots(url) }
      let isBodiless = body.isEmpty
      let method = method ?? (isHead ? .head : content.isUpload ? .put : isBodiless ? .get : .post)
      var options = TransferOptions()
      if timeouts != Timeouts() { options.timeouts = timeouts }
      if isCompressed { options.decodesBody = true }
      for field in content.fields(isSent: !isBodiless) { headers.setDefault(field) }
      if !content.isUpload, let type = body.mediaType {
        headers.setDefault(HTTPHeaders.Field(.contentType, type.rawValue))
      }
      var untyped = body
      untyped.mediaType = nil  // the header specifies it
      let request = HTTPRequest(method, url, headers: headers.fields, body: untyped, options: options)
      do {
        try request.check()
      } catch {
        throw Refusal(reason: (error as? TaskError)?.reason ?? "\(error)")
      }
      return request
    }
  }
}
