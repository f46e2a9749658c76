import ErrandFoundation

/// Builds URLs below a remote, which is parsed once.
struct BaseURL: Sendable {
  private let remote: Remote
  private let redaction: Redaction
  /// The remote's URL without its query, with a trailing slash.
  private let base: String?
  /// The remote's URL without its query.
  private let address: String
  /// The remote's query, which is added to every URL.
  private let ownQuery: String?
  private let isSound: Bool
  let origin: Origin?

  init(_ remote: Remote, redaction: Redaction) {
    self.remote = remote
    self.redaction = redaction
    let (address, query) = remote.parts
    self.address = address
    base = address.isEmpty ? nil : address.hasSuffix("/") ? address : address + "/"
    ownQuery = query
    let url = base.flatMap { Self.absolute($0) }
    isSound = url != nil && remote.problem == nil
    origin = url.flatMap { Origin($0) }
  }

  /// The error thrown by every call that uses the remote, if the remote is invalid.
  var problem: TaskError? { remote.problem ?? base.flatMap { isSound ? nil : malformed($0) } }

  /// Returns the remote's origin if the URL is below the remote.
  @inline(__always)
  func origin(of url: URL) -> Origin? {
    guard let base else { return nil }
    let text = url.absoluteString
    return text.hasPrefix(base) || isRemote(text) ? origin : nil
  }

  /// Whether the URL is the remote's own, with or without a query.
  private func isRemote(_ text: String) -> Bool {
    guard text.hasPrefix(address) else { return false }
    let rest = text.utf8.dropFirst(address.utf8.count)
    return rest.isEmpty || rest.first == UInt8(ascii: "?")
  }

  /// Returns the URL of a path below the remote.
  ///
  /// Drops the path's leading slash and percent-encodes invalid characters, but keeps existing escapes. The remote's
  /// query comes first. For an empty path, returns the remote's own URL. A complete URL is used unchanged.
  func url(path: String, query: HTTPQuery) throws -> URL {
    let isWhole = Self.isWhole(path)
    guard let base = isWhole ? "" : base else {
      throw TaskError(
        .noRemote,
        "no remote for the path '\(redaction(address: path).shortened)': create the Server with a remote, set one with setRemote, or run the task on another server with on(_:)",
        phase: .preparing)
    }
    // Otherwise, a path could become the host of a remote that has no host.
    guard isWhole || isSound else { throw malformed(base) }
    let below = path.hasPrefix("/") ? path.dropFirst() : path[...]
    if let problem = PathSegments.problem(in: below) {
      throw TaskError(
        .badURL, "the path '\(redaction(address: path).shortened)' has \(problem)", phase: .preparing,
        wasNotSent: true)
    }
    if isWhole {
      let text = URIReference(path).text
      guard let url = Self.absolute(text) else { throw malformed(text) }
      return query.isEmpty ? url : try adding(query, to: url)
    }
    if path.isEmpty, query.isEmpty { return try whole() }
    var text = (path.isEmpty || path.hasPrefix("?") ? address : base) + below.escapedForURI()
    if let ownQuery { text = Self.inserting(ownQuery, in: text) }
    if !query.isEmpty { text += (text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.encoded }
    // A valid base already has a scheme and a host.
    guard let url = URL(string: text, encodingInvalidCharacters: false) else { throw malformed(text) }
    return url
  }

  /// Returns the remote's URL, unchanged.
  private func whole() throws -> URL {
    guard let url = URL(string: remote.address, encodingInvalidCharacters: false) else {
      throw malformed(remote.address)
    }
    return url
  }

  /// Returns the URL with `query` inserted after the existing query and before the fragment.
  func adding(_ query: HTTPQuery, to url: URL) throws -> URL {
    let parts = url.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let fragment = parts.count == 2 ? "#\(parts[1])" : ""
    let separator = parts[0].hasSuffix("?") ? "" : parts[0].contains("?") ? "&" : "?"
    let text = "\(parts[0])\(separator)\(query.encoded)\(fragment)"
    guard let url = Self.absolute(text) else { throw malformed(text) }
    return url
  }

  private static func absolute(_ text: String) -> URL? {
    guard let url = URL(string: text, encodingInvalidCharacters: false), url.scheme?.isEmpty == false,
      url.host(percentEncoded: true)?.isEmpty == false
    else { return nil }
    return url
  }

  /// Whether the path is an absolute URL. Schemes are case-insensitive (RFC 3986 §3.1).
  private static func isWhole(_ path: String) -> Bool {
    func begins(_ scheme: String) -> Bool {
      // Setting the lowercase bit does not change ":" and "/".
      path.utf8.count > scheme.utf8.count && zip(path.utf8, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
    return begins("http://") || begins("https://")
  }

  private static func inserting(_ query: String, in text: String) -> String {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return parts[0] + "?" + query + (parts.count == 2 && !parts[1].isEmpty ? "&" + parts[1] : "")
  }

  private func malformed(_ text: String) -> TaskError {
    if let problem = remote.problem { return problem }
    return TaskError(
      .badURL,
      "the URL '\(redaction(address: text).shortened)' of the remote '\(remote.name)' is not valid: it needs a scheme and a host, as in 'https://shop.example.com', and can't contain whitespace",
      phase: .preparing)
  }
}
