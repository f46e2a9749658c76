package import Foundation

/// A server's configuration as it was when a call began, with what can be prepared once for all calls.
package final class ServerSnapshot: Sendable {
  package let configuration: ServerConfiguration
  private let server: ObjectIdentifier
  /// The remote's URL without its query, ending in a slash; nil where there is none.
  private let base: String?
  /// The remote's own query, which goes with every request below it; nil where there is none.
  private let remoteQuery: String?
  /// True when the base is an absolute URL, so that every URL below it is one as well.
  private let isBaseSound: Bool
  /// The observers of every call.
  let observers: [ObserverQueue]
  /// The mistake in the configuration that fails every call; nil where there is none.
  let problem: TaskError?
  /// The first fields of every request: the standard headers and the user agent.
  let headers: HTTPHeaders
  /// The limits of calls that state none.
  let timeouts: Timeouts
  /// The options of every transfer, but for what the call says.
  let options: TransferOptions
  /// The same, for those that may be repeated.
  let repeatableOptions: TransferOptions
  /// The origin of everything below the remote.
  private let origin: Origin?
  /// Other origins to which the server's header fields go.
  private let trustedOrigins: Set<Origin>
  /// True when the server has header fields that stay with its remote.
  let hasOwnHeaders: Bool
  /// The last path without a query, and its URL: what is called often is often the same.
  private let lastURL = Lock<(path: String, url: URL)?>(nil)

  init(_ configuration: ServerConfiguration, of server: ObjectIdentifier) {
    self.configuration = configuration
    self.server = server
    let (address, query) = configuration.remote.parts
    base = address.isEmpty ? nil : address.hasSuffix("/") ? address : address + "/"
    remoteQuery = query
    let baseURL = base.flatMap { Self.absolute($0) }
    isBaseSound = baseURL != nil && configuration.remote.fragment == nil
    origin = baseURL.flatMap { Origin($0) }
    trustedOrigins = Set(configuration.trustedOrigins.compactMap { URL(string: $0).flatMap { Origin($0) } })
    hasOwnHeaders =
      configuration.computedHeaders != nil
      || !configuration.standardHeaders.allSatisfy { Self.publicHeaders.contains($0.name) }
    var headers = configuration.standardHeaders
    if !configuration.userAgent.isEmpty { headers.setDefault(configuration.userAgent, for: .userAgent) }
    self.headers = headers
    observers = configuration.observers.map { ObserverQueue($0) }
    problem = configuration.timeouts.problem(timeout: configuration.defaultTimeout, named: "defaultTimeout")
    let timeouts = Timeouts.ofAttempts(.inherited, Timeouts(), configuration)
    self.timeouts = timeouts
    var options = TransferOptions()
    options.timeouts = timeouts
    options.decodesBody = configuration.enableGZipDownloads
    options.allowsExpensiveNetworkAccess = configuration.allowsExpensiveNetworkAccess
    options.allowsConstrainedNetworkAccess = configuration.allowsConstrainedNetworkAccess
    options.waitsForConnectivity = configuration.waitsForConnectivity
    options.pins = configuration.pins
    self.options = options
    options.mayRepeat = true
    repeatableOptions = options
  }

  /// Writes to the log what calls will fail with.
  func complain() {
    if let problem { return configuration.log.write("every call will fail: \(problem)") }
    guard let problem = configuration.remote.fragmentProblem else { return }
    configuration.log.write("every call below the remote will fail: \(problem)")
  }

  /// The origin of a URL that is below the remote; nil for any other.
  func origin(of url: URL) -> Origin? {
    guard let base, url.absoluteString.hasPrefix(base) else { return nil }
    return origin
  }

  /// Header fields that reveal nothing about the user: they go wherever a call goes.
  static let publicHeaders: Set<HTTPHeaderName> = [.accept, .acceptLanguage, .userAgent]

  /// The fields that every request of a task to `url` starts with: standard ones under computed ones. An origin that is
  /// neither the remote's nor trusted gets only the public ones.
  func headers(for task: any ServerTask, at url: URL) async throws -> HTTPHeaders {
    let headers = try await standardHeaders(for: task)
    guard !isHome(url) else { return headers }
    return HTTPHeaders(headers.filter { Self.publicHeaders.contains($0.name) })
  }

  /// True when the server's own fields may go to a URL.
  func isHome(_ url: URL) -> Bool {
    if origin(of: url) != nil { return true }
    guard let target = Origin(url) else { return false }
    return target == origin || trustedOrigins.contains(target)
  }

  /// The URL for a path below the remote.
  ///
  /// One leading slash of the path is dropped; what a URL cannot hold is percent-encoded, escapes that are there stay.
  /// The remote's own query comes first. A path that is a whole URL is taken as it is.
  package func url(path: String, query: HTTPQuery) throws -> URL {
    if query.isEmpty, let last = lastURL.withLock({ $0 }), last.path.hasSameBytes(as: path) { return last.url }
    let isWhole = Self.isWhole(path)
    let url = try makeURL(path, query, isWhole: isWhole)
    if query.isEmpty, !isWhole { lastURL.withLock { $0 = (path, url) } }
    return url
  }

  private func makeURL(_ path: String, _ query: HTTPQuery, isWhole: Bool) throws -> URL {
    guard let base = isWhole ? "" : base else {
      throw TaskError(
        .noRemote,
        "there is no remote to add the path '\(configuration.redaction(address: path).shortened)' to: make a Server with one, or set it",
        phase: .preparing)
    }
    // Or a path would become the host of a remote without one.
    guard isWhole || isBaseSound else { throw malformed(base) }
    var text = base + Self.escaped(path.hasPrefix("/") ? path.dropFirst() : path[...])
    if !isWhole, let remoteQuery { text = Self.inserting(remoteQuery, in: text) }
    if !query.isEmpty { text += (text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.encoded }
    // What begins with a sound base has its scheme and host.
    guard let url = isWhole ? Self.absolute(text) : URL(string: text, encodingInvalidCharacters: false) else {
      throw malformed(text)
    }
    return url
  }

  /// The URL for a plan: its task's, with the plan's additions.
  package static func url(of plan: TaskPlan) async throws -> URL {
    try await plan.server.snapshot.url(of: plan)
  }

  /// The URL for a plan: its task's, with the plan's additions.
  package func url(of plan: TaskPlan) async throws -> URL {
    let url = try await url(of: plan.task)
    guard !plan.addedQuery.isEmpty else { return url }
    let parts = url.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let fragment = parts.count == 2 ? "#\(parts[1])" : ""
    let longer = parts[0] + (parts[0].contains("?") ? "&" : "?") + plan.addedQuery.encoded + fragment
    guard let url = Self.absolute(longer) else { throw malformed(longer) }
    return url
  }

  /// The URL that a task states, or that its server makes of this snapshot.
  private func url(of task: any ServerTask) async throws -> URL {
    let server = task.server
    if server.snapshot === self, Self.override == nil {
      let url = try await task.url
      if server.snapshot === self { return url }  // it was made of no other
    }
    return try await Self.$override.withValue(Override(server: ObjectIdentifier(server), snapshot: self)) {
      try await task.url
    }
  }

  /// A task's default URL: by the snapshot of the call in flight, else the server's present one.
  static func url(below server: Server, path: String, query: HTTPQuery) throws -> URL {
    guard let override, override.server == ObjectIdentifier(server) else {
      return try server.snapshot.url(path: path, query: query)
    }
    return try override.snapshot.url(path: path, query: query)
  }

  /// While a call asks its task for the URL: that task's server, and the snapshot to use for it.
  private struct Override: Sendable {
    let server: ObjectIdentifier
    let snapshot: ServerSnapshot
  }

  @TaskLocal private static var override: Override?

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
    if let problem = configuration.remote.fragmentProblem { return problem }
    return TaskError(
      .badURL,
      "'\(configuration.redaction(address: text).shortened)' of the remote '\(configuration.remote.name)' is no absolute URL: it needs a scheme, a host and no blanks",
      phase: .preparing)
  }

  // RFC 3986 §3.3 and §3.4: pchar, "/" and "?" stay; so does a percent sign before two digits.
  private static func escaped(_ path: Substring) -> String {
    guard path.utf8.contains(where: { !isAllowed($0) || $0 == UInt8(ascii: "%") }) else { return String(path) }
    let bytes = Array(path.utf8)
    var result = ""
    for (index, byte) in bytes.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHexadecimal(bytes[index + 1])
        && isHexadecimal(bytes[index + 2])
      if isEscape || (isAllowed(byte) && byte != UInt8(ascii: "%")) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }
  }
}

extension ServerSnapshot {
  func standardHeaders(for task: any ServerTask) async throws -> HTTPHeaders {
    guard let compute = configuration.computedHeaders else { return headers }
    var result = headers
    result.replace(with: try await compute(task))
    return result
  }
}
