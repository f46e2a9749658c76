import ErrandFoundation

/// A request as the arguments of `curl`.
struct CurlArguments {
  /// The body of a request, by the way in which it gets to `curl`.
  enum Body {
    case none
    case text(String)
    case bytes(Data)
    case file(String)
    /// From the standard input of the command.
    case stream
    /// One that is not shown, which is for whoever runs the command to give.
    case unshown
  }

  var method: HTTPMethod
  var url: String
  var headers: [RecordedCall.Field]
  var body: Body
  /// True where a packed response is unpacked.
  var isCompressed = false

  /// The longest text that is an argument, in bytes: Linux takes no argument of more than 128 KiB.
  private static let longestArgument = 96 << 10
  /// The size from which `curl` waits for the server's consent before it sends a body.
  private static let waitingSize = 1 << 20

  /// The command as a POSIX shell runs it, one option a line.
  var command: String {
    var (lines, input) = (["curl \(ShellText.quoted(url))"], "")
    // Brackets and braces are patterns to curl, and it would leave dots out of a path.
    if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { lines.append("--globoff") }
    if hasDots { lines.append("--path-as-is") }
    if method == .head { lines.append("--head") }
    if method != .head, method != (hasContent ? .post : .get) {
      lines.append("--request \(ShellText.quoted(method.rawValue))")
    }
    lines += fields.map { "--header \(ShellText.quoted($0))" }
    if isCompressed { lines.append("--compressed") }
    switch body {
    case .none: if hasContent { lines.append("--data-raw ''") }
    case .text(let text) where ShellText.isPlain(text) && text.utf8.count <= Self.longestArgument:
      lines.append("--data-raw \(ShellText.quoted(text))")
    case .text(let text):
      input = ShellText.isPlain(text) ? "printf %s \(ShellText.quoted(text))" : ShellText.printf(text.utf8)
      lines.append("--data-binary @-")
    case .bytes(let data):
      input = ShellText.printf(data)
      lines.append("--data-binary @-")
    case .file(let path): lines.append("--data-binary \(ShellText.quoted("@\(path)"))")
    case .stream, .unshown: lines.append("--data-binary @-")
    }
    return remark + (input.isEmpty ? "" : "\(input) |\n") + lines.joined(separator: " \\\n  ")
  }

  /// A line before the command, for a comment ends where it would go on. It has no sign that a shell without comments, as zsh is where people
  /// type, would obey.
  private var remark: String {
    guard case .unshown = body else { return "" }
    return "# The body is not shown. The command reads it from the standard input.\n"
  }

  /// True where curl might take a segment of the path for dots.
  private var hasDots: Bool {
    var (before, last): (UInt8, UInt8) = (0, 0)
    for byte in url.utf8 {
      if last == UInt8(ascii: "/"), byte == UInt8(ascii: ".") { return true }
      if before == UInt8(ascii: "/"), last == UInt8(ascii: "%"), byte == UInt8(ascii: "2") { return true }
      (before, last) = (last, byte)
    }
    return false
  }

  /// True where the request says that it has content, be it nothing (RFC 9110 §8.6).
  private var hasContent: Bool {
    if case .none = body { return method == .post || method == .put || method == .patch }
    return true
  }

  /// The lines of the header as curl takes them; those that it would add of its own accord are left out by name.
  private var fields: [String] {
    var fields: [String] = []
    let names = Set(headers.map { HTTPHeaderName($0.name) })
    for field in headers {
      let name = HTTPHeaderName(field.name)
      // Framing is curl's business.
      if name == .contentLength || name == .transferEncoding { continue }
      let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
      fields.append(isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    var unwanted: [HTTPHeaderName] = [.accept, .userAgent]
    if hasContent { unwanted.append(.contentType) }
    if waits { unwanted.append(.expect) }
    return fields + unwanted.filter { !names.contains($0) }.map { "\($0):" }
  }

  /// True where curl would ask for consent before it sends the body.
  private var waits: Bool {
    switch body {
    case .none: false
    case .text(let text): text.utf8.count >= Self.waitingSize
    case .bytes(let data): data.count >= Self.waitingSize
    case .file, .stream, .unshown: true
    }
  }
}

extension HTTPRequest {
  /// The `curl` command that sends this request, for a POSIX shell: paste it, or save it as a script.
  ///
  /// What arrives is what Errand sends, but for `Accept-Encoding` and the framing of a body, which are curl's own. Bytes that are no
  /// text go in through `printf`, in octal; a body that is a stream, or is not shown, is read from the standard input. Proxies, pins, time limits
  /// and the credentials of a digest are not in it. curl 8.8 to 8.20 leave out a `?` that nothing follows.
  ///
  /// - Parameter redaction: Hides secrets, ``Redaction/standard`` unless given; nil shows all of them.
  public func curlCommand(redaction: Redaction? = .standard) -> String {
    let hiding = redaction?.hiding(options.credentialHeaders)
    let fields =
      hiding?.recorded(headers) ?? headers.map { RecordedCall.Field(name: $0.name.rawName, value: $0.value) }
    let expects = options.continueTimeout != nil && !body.isEmpty && !headers.contains(.expect)
    return CurlArguments(
      method: method == .automatic ? (body.isEmpty ? .get : .post) : method,
      url: redaction.map { $0(url) } ?? url.absoluteString,
      headers: fields + (expects ? [.init(name: "Expect", value: "100-continue")] : []), body: curlBody(redaction),
      // The part of a body that a range names is not packed.
      isCompressed: options.decodesBody && !headers.contains(.acceptEncoding) && !headers.contains(.range)
    ).command
  }

  private func curlBody(_ redaction: Redaction?) -> CurlArguments.Body {
    switch body.storage {
    case .empty: .none
    case .file(let url): .file(url.path)
    case .stream: .stream
    case .bytes(let data):
      if let redaction {
        redaction.recorded(data, type: headers.mediaType, limit: .max).curlBody
      } else {
        String(data: data, encoding: .utf8).map { .text($0) } ?? .bytes(data)
      }
    }
  }
}

extension RecordedCall.Exchange {
  /// The `curl` command that sends this request again, with what the recording shows of it; nil where the URL is not shown. A body that is
  /// not shown is read from the standard input, as a comment before the command says.
  public var curlCommand: String? {
    url.map { url in
      CurlArguments(method: method, url: url, headers: headers, body: body?.curlBody ?? .none).command
    }
  }
}

extension RecordedCall.Body {
  fileprivate var curlBody: CurlArguments.Body { data.map { .bytes($0) } ?? text.map { .text($0) } ?? .unshown }
}
