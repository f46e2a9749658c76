import ErrandFoundation

/// The base of a remote's URLs, read once.
struct BaseURL: Sendable {
  private let remote: Remote
  private let redaction: Redaction
  /// The remote's URL without its query, ending in a slash; nil where there is none.
  private let base: String?
  /// The remote's own query, which goes with every request below it; nil where there is none.
  private let ownQuery: String?
  /// True when the base is an absolute URL, so that every URL below it is one as well.
  private let isSound: Bool
  /// The origin of everything below the remote.
  let origin: Origin?

  init(_ remote: Remote, redaction: Redaction) {
    self.remote = remote
    self.redaction = redaction
    let (address, query) = remote.parts
    base = address.isEmpty ? nil : address.hasSuffix("/") ? address : address + "/"
    ownQuery = query
    let url = base.flatMap { Self.absolute($0) }
    isSound = url != nil && remote.problem == nil
    origin = url.flatMap { Origin($0) }
  }

  /// The mistake in the remote, which every call below it fails with; nil where there is none, and where there is no remote.
  var problem: TaskError? { remote.problem ?? base.flatMap { isSound ? nil : malformed($0) } }

  /// The origin of a URL that is below the remote; nil for any other.
  @inline(__always)
  func origin(of url: URL) -> Origin? {
    guard let base, url.absoluteString.hasPrefix(base) else { return nil }
    return origin
  }

  /// The URL of a path below the remote.
  ///
  /// One leading slash of the path is dropped; what a URL cannot hold is percent-encoded, escapes that are there stay.
  /// The remote's own query comes first. A path that is a whole URL is taken as it is.
  func url(path: String, query: HTTPQuery) throws -> URL {
    let isWhole = Self.isWhole(path)
    guard let base = isWhole ? "" : base else {
      throw TaskError(
        .noRemote,
        "there is no remote to add the path '\(redaction(address: path).shortened)' to: make a Server with one, or set it",
        phase: .preparing)
    }
    // Or a path would become the host of a remote without one.
    guard isWhole || isSound else { throw malformed(base) }
    let below = path.hasPrefix("/") ? path.dropFirst() : path[...]
    if let problem = PathSegments.problem(in: below) {
      throw TaskError(
        .badURL, "the path '\(redaction(address: path).shortened)' has \(problem)", phase: .preparing,
        isSurelyNotSent: true)
    }
    if isWhole {
      let text = URIReference(path).text
      guard let url = Self.absolute(text) else { throw malformed(text) }
      return query.isEmpty ? url : try adding(query, to: url)
    }
    var text = base + below.escapedForURI()
    if let ownQuery { text = Self.inserting(ownQuery, in: text) }
    if !query.isEmpty { text += (text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.encoded }
    // What begins with a sound base has its scheme and host.
    guard let url = URL(string: text, encodingInvalidCharacters: false) else { throw malformed(text) }
    return url
  }

  /// A URL with `query` after its own, and before its fragment.
  func adding(_ query: HTTPQuery, to url: URL) throws -> URL {
    let parts = url.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let fragment = parts.count == 2 ? "#\(parts[1])" : ""
    let text = parts[0] + (parts[0].contains("?") ? "&" : "?") + query.encoded + fragment
    guard let url = Self.absolute(text) else { throw malformed(text) }
    return url
  }

  private static func absolute(_ text: String) -> URL? {
    guard let url = URL(string: text, encodingInvalidCharacters: false), url.scheme?.isEmpty == false,
      url.host(percentEncoded: true)?.isEmpty == false
    else { return nil }
    return url
  }

  /// True when a path is an absolute URL; schemes are the same in any case (RFC 3986 §3.1).
  private static func isWhole(_ path: String) -> Bool {
    func begins(_ scheme: String) -> Bool {
      // The bit of the case leaves ":" and "/" as they are.
      path.utf8.count > scheme.utf8.count && zip(path.utf8, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
    return begins("http://") || begins("https://")
  }

  /// A URL with `query` before its own.
  private static func inserting(_ query: String, in text: String) -> String {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return parts[0] + "?" + query + (parts.count == 2 && !parts[1].isEmpty ? "&" + parts[1] : "")
  }

  private func malformed(_ text: String) -> TaskError {
    if let problem = remote.problem { return problem }
    return TaskError(
      .badURL,
      "'\(redaction(address: text).shortened)' of the remote '\(remote.name)' is not an absolute URL: it needs a scheme, a host and no blanks",
      phase: .preparing)
  }
}
