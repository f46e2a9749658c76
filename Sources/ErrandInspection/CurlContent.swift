import Errand
import ErrandFoundation

/// The body of a `curl` command: data, a form with files, or a file.
struct CurlContent {
  typealias Refusal = ShellWords.Refusal
  typealias Word = ShellWords.Word

  var input: Word?
  private var data: Word?
  private var file: String?
  private var parts: [MultipartForm.Part] = []
  private var isJSON = false
  /// Whether a file is uploaded with PUT (`--upload-file`).
  private(set) var isUpload = false

  /// The name of the uploaded file, which curl appends to a URL that ends with a slash.
  var uploadName: String? { isUpload ? file?.split(separator: "/").last.map(String.init) : nil }

  mutating func add(_ option: String, _ value: Word) throws(Refusal) {
    let isFile = value.first == UInt8(ascii: "@")
    switch option {
    case "data", "data-ascii":
      if isFile { throw Refusal(reason: "'-d @file' is not supported: use --data-binary, which keeps line breaks") }
      append(value)
    case "data-raw": append(value)
    case "data-binary": if isFile { try add(file: value.dropFirst()) } else { append(value) }
    case "data-urlencode": append(try Self.escaped(value))
    case "json":
      if isFile { throw Refusal(reason: "'--json @file' is not supported: use --data-binary") }
      isJSON = true
      data = (data ?? []) + value
    case "form": parts.append(try part(value))
    case "form-string": parts.append(try Self.textPart(value, isPlain: true))
    case "upload-file":
      isUpload = true
      try add(file: value[...])
    default: throw Refusal(reason: "the option '--\(option)' is not supported")
    }
  }

  private mutating func append(_ value: Word) { data = data.map { $0 + [UInt8(ascii: "&")] + value } ?? value }

  private mutating func add(file name: Word.SubSequence) throws(Refusal) {
    guard name.elementsEqual("-".utf8) else { return file = String(decoding: name, as: UTF8.self) }
    guard let input else {
      throw Refusal(reason: "it reads from standard input, which is not available: put the data in the command")
    }
    append(input)
  }

  // MARK: Forms

  /// Parses `name=value`, or `name=@file` with `;type=` and `;filename=`.
  private func part(_ value: Word) throws(Refusal) -> MultipartForm.Part {
    let text = String(decoding: value, as: UTF8.self)
    guard let sign = text.firstIndex(of: "=") else { throw Refusal(reason: "a form part has no '='") }
    let (name, rest) = (String(text[..<sign]), text[text.index(after: sign)...])
    guard rest.hasPrefix("@") else {
      if rest.hasPrefix("<") { throw Refusal(reason: "'-F name=<file' is not supported: use name=@file") }
      return try Self.textPart(value, isPlain: false)
    }
    let words = rest.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    var (fileName, type): (String?, MediaType?) = (nil, nil)
    for word in words.dropFirst() {
      let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
      switch pair.first {
      case "type" where pair.count == 2: type = MediaType(pair[1])
      case "filename" where pair.count == 2: fileName = pair[1].trimmingQuotes
      default: throw Refusal(reason: "'\(pair.first ?? "")' in a form part is not supported")
      }
    }
    return .file(name, URL(fileURLWithPath: words.first ?? ""), fileName: fileName, type: type)
  }

  private static func textPart(_ value: Word, isPlain: Bool) throws(Refusal) -> MultipartForm.Part {
    guard let sign = value.firstIndex(of: UInt8(ascii: "=")) else {
      throw Refusal(reason: "a form part has no '='")
    }
    let name = String(decoding: value[..<sign], as: UTF8.self)
    let text = String(decoding: value[(sign + 1)...], as: UTF8.self)
    let content = text.prefix { $0 != ";" }
    let isPadded = content.first?.isWhitespace ?? false || content.last?.isWhitespace ?? false
    if isPlain || !isPadded && !text.contains(where: { $0 == "\"" || $0 == ";" }) { return .text(name, text) }
    let mark = ";type="
    let options = text[content.endIndex...]
    let type = options.dropFirst(mark.count)
    guard !isPadded, !text.contains("\""), options.hasPrefix(mark), isType(type) else {
      throw Refusal(
        reason:
          "the text of '-F name=text' has quotes, ';' or surrounding whitespace, which curl interprets: use --form-string, or a single ';type='"
      )
    }
    return .body(name, .bytes(Data(content.utf8), type: MediaType(String(type))))
  }

  /// Whether the text is a media type, optionally with a charset. Other parameters have a special meaning in curl.
  private static func isType(_ text: Substring) -> Bool {
    let words = text.split(separator: ";", omittingEmptySubsequences: false)
    guard let type = words.first, words.dropFirst().allSatisfy({ $0.hasPrefix("charset=") }) else { return false }
    return type.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
      && type.count { $0 == "/" } == 1 && !text.contains { $0.isWhitespace }
  }

  // MARK: Data

  /// Escapes the content of `content`, `=content` or `name=content`.
  private static func escaped(_ value: Word) throws(Refusal) -> Word {
    let sign = value.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }
    guard let sign else { return escapedBytes(value[...]) }
    guard value[sign] == UInt8(ascii: "=") else {
      throw Refusal(reason: "'--data-urlencode @file' is not supported: pass the data itself")
    }
    let content = escapedBytes(value[(sign + 1)...])
    return sign == 0 ? content : value[...sign] + content
  }

  private static func escapedBytes(_ bytes: Word.SubSequence) -> Word {
    bytes.flatMap { byte -> Word in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        [byte]
      case UInt8(ascii: " "): [UInt8(ascii: "+")]
      default: byte.percentEncoded
      }
    }
  }

  /// Returns the URL with the data added to its query (`--get`).
  func adding(to url: String) -> String {
    guard let data, !data.isEmpty else { return url }
    let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let base = String(parts.first ?? "")
    let query = base + (base.contains("?") ? "&" : "?") + String(decoding: data, as: UTF8.self)
    return parts.count == 2 ? "\(query)#\(parts[1])" : query
  }

  var body: HTTPBody {
    get throws(Refusal) {
      guard [data != nil, file != nil, !parts.isEmpty].count(where: { $0 }) < 2 else {
        throw Refusal(reason: "it has more than one body: use only one of data, a file or a form")
      }
      if let data { return .bytes(Data(data)) }
      if let file { return .file(URL(fileURLWithPath: file)) }
      guard !parts.isEmpty else { return .empty }
      do {
        return try MultipartForm(parts).body()
      } catch {
        throw Refusal(reason: (error as? TaskError)?.reason ?? "\(error)")
      }
    }
  }

  func fields(isSent: Bool) -> [HTTPHeaders.Field] {
    if isJSON { return [.init(.contentType, "application/json"), .init(.accept, "application/json")] }
    let isForm = isSent && parts.isEmpty && !isUpload
    return isForm ? [.init(.contentType, MediaType.form.rawValue)] : []
  }
}

extension String {
  fileprivate var trimmingQuotes: String {
    count > 1 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
  }
}
