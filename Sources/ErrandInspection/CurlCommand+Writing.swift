public import Errand
import ErrandFoundation

/// The arguments of a `curl` command that sends a request.
struct CurlArguments {
  enum Body {
    case none
    case text(String)
    case bytes(Data)
    case file(String)
    /// Read from the command's standard input.
    case stream
    /// Hidden. The user must supply the body on standard input.
    case unshown
  }

  var method: HTTPMethod
  var url: String
  var headers: HTTPHeaders
  var body: Body
  var isCompressed = false

  /// The maximum length of an argument, in bytes. Linux allows 128 KiB.
  private static let longestArgument = 96 << 10
  /// The minimum body size, in bytes, for which `curl` sends `Expect: 100-continue`.
  private static let waitingSize = 1 << 20

  /// The command for a POSIX shell, with one option per line.
  var command: String {
    var (lines, input) = (["curl \(ShellText.quoted(url))"], "")
    // curl treats brackets and braces as patterns and removes dot segments.
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

  /// A comment on its own line, because a comment inside the command would end it. The comment avoids characters that
  /// are special in an interactive zsh, which does not recognize comments.
  private var remark: String {
    guard case .unshown = body else { return "" }
    return "# The body is not shown. The command reads it from standard input.\n"
  }

  /// Whether the path may contain a segment that curl interprets as a dot segment.
  private var hasDots: Bool {
    var (before, last): (UInt8, UInt8) = (0, 0)
    for byte in url.utf8 {
      if last == UInt8(ascii: "/"), byte == UInt8(ascii: ".") { return true }
      if before == UInt8(ascii: "/"), last == UInt8(ascii: "%"), byte == UInt8(ascii: "2") { return true }
      (before, last) = (last, byte)
    }
    return false
  }

  /// Whether the request has content, even if it is empty (RFC 9110 §8.6).
  private var hasContent: Bool {
    if case .none = body { return method == .post || method == .put || method == .patch }
    return true
  }

  /// The header arguments. Fields that curl would add by default are removed by name.
  private var fields: [String] {
    var fields: [String] = []
    for field in headers where !field.name.isOfFraming {  // curl frames the body itself
      let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
      fields.append(isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    var unwanted: [HTTPHeaderName] = [.accept, .userAgent]
    if hasContent { unwanted.append(.contentType) }
    if waits { unwanted.append(.expect) }
    return fields + unwanted.filter { !headers.contains($0) }.map { "\($0):" }
  }

  /// Whether curl would send `Expect: 100-continue` before the body.
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
  /// Returns a `curl` command that sends this request, to paste into a POSIX shell or save as a script.
  ///
  /// The server receives the same request as from Errand, except for `Accept-Encoding` and the framing of the body.
  /// Binary data is passed through `printf` in octal. A streamed or hidden body is read from standard input. Proxies,
  /// certificate pins, timeouts and digest credentials are not included. curl 8.8 to 8.20 remove a trailing `?`.
  ///
  /// - Parameter redaction: The policy that hides secrets. Defaults to `Redaction.standard`. `nil` shows all secrets.
  public func curlCommand(redaction: Redaction? = .standard) -> String {
    var fields = redaction.map { $0.hiding(options.credentialHeaders)(headers) } ?? headers
    if options.continueTimeout != nil, !body.isEmpty { fields.setDefault("100-continue", for: .expect) }
    return CurlArguments(
      method: method == .automatic ? (body.isEmpty ? .get : .post) : method,
      url: redaction.map { $0(url) } ?? url.absoluteString,
      headers: fields, body: curlBody(redaction),
      // Ranges are requested without compression.
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

extension RecordedCall {
  /// Returns a `curl` command that resends the recorded parts of the last request. Returns `nil` if nothing was sent or
  /// the URL is hidden. Secrets are hidden, as in the recording.
  public func curlCommand() -> String? { exchanges.last?.curlCommand() }
}

extension RecordedCall.Exchange {
  /// Returns a `curl` command that resends the recorded parts of this request. Returns `nil` if the URL is hidden.
  /// Secrets are hidden, as in the recording. A hidden body is read from standard input, and a comment before the
  /// command says so.
  public func curlCommand() -> String? {
    url.map { url in
      CurlArguments(method: method, url: url, headers: headers, body: body?.curlBody ?? .none).command
    }
  }
}

extension RecordedCall.Body {
  fileprivate var curlBody: CurlArguments.Body { data.map { .bytes($0) } ?? text.map { .text($0) } ?? .unshown }
}
