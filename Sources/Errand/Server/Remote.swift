public import ErrandFoundation

/// A place where a server's paths begin: a URL, perhaps with a path prefix and a query, and the names it is known by.
///
///     extension Remote {
///       static let staging = Remote("https://staging.example.com/api", name: "staging", shortName: "stg")
///     }
///
/// A query of the remote's own goes with every request below it. A fragment is refused, for it would never be sent, and so
/// is a user: see ``ServerConfiguration/authentication``.
public struct Remote: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The URL as it was given. A malformed one is reported by the first call, with the remote's name.
  public let address: String
  /// The name for people and environment variables; the host unless given, or the address where it has none.
  public let name: String
  /// A shorter name; the same as ``name`` unless given.
  public let shortName: String

  /// A remote by its URL as text.
  public init(_ address: String, name: String? = nil, shortName: String? = nil) {
    self.address = address
    self.name = name ?? URL(string: address)?.host(percentEncoded: false) ?? Redaction.standard(address: address)
    self.shortName = shortName ?? self.name
  }

  /// A remote by its URL.
  public init(_ url: URL, name: String? = nil, shortName: String? = nil) {
    self.init(url.absoluteString, name: name, shortName: shortName)
  }

  /// A remote by its URL as text.
  public init(stringLiteral value: String) { self.init(value) }

  /// No place: calls fail until the server is given one.
  public static let none = Remote("", name: "none")

  /// The URL; nil where there is none or it is malformed.
  public var url: URL? { address.isEmpty ? nil : URL(string: address) }

  /// The address without its fragment and query, and the query; nil where it is missing or empty.
  var parts: (base: String, query: String?) {
    let sent = address.prefix { $0 != "#" }
    let parts = sent.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
    return (parts.first.map { String($0) } ?? "", query)
  }

  /// The fragment with its hash; nil where there is none.
  var fragment: String? { address.firstIndex(of: "#").map { String(address[$0...]) } }

  /// True where the address names a user, perhaps with a password.
  private var hasUser: Bool {
    guard let scheme = parts.base.firstRange(of: "://") else { return false }
    return parts.base[scheme.upperBound...].prefix { $0 != "/" && $0 != "\\" }.contains("@")
  }

  /// The error for a user, a fragment or a value that is no segment; nil where there is none of them.
  var problem: TaskError? {
    // RFC 9110 §4.2.4: such a URL shows its password wherever it is shown.
    if hasUser {
      return TaskError(
        .badURL,
        "the remote '\(name)' has a user in its URL: leave it out, and set authentication = .basic(user:password:)",
        phase: .preparing)
    }
    if let fault = PathSegments.problem(in: address[...]) {
      return TaskError(.badURL, "the remote '\(name)' has \(fault)", phase: .preparing)
    }
    guard let fragment else { return nil }
    return TaskError(
      .badURL,
      "the remote '\(name)' has the fragment '\(Redaction.standard(address: fragment))', which is never sent: leave it out",
      phase: .preparing)
  }

  /// Name and URL, without its user and password.
  public var description: String { "\(name) (\(Redaction.standard(address: address)))" }

  /// The remote that an environment variable names.
  ///
  /// - Parameters:
  ///   - variable: The variable; its value is compared with names and short names, without regard to case.
  ///   - remotes: The known ones.
  ///   - fallback: What is taken when the variable is not set, or empty.
  ///   - environment: The environment; the process's unless given.
  /// - Returns: One of `remotes`, or `fallback`.
  /// - Throws: ``TaskError`` with code `.unknownRemote` that lists the known names.
  public static func fromEnvironment(
    _ variable: String, among remotes: [Remote], default fallback: Remote,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Remote {
    guard let wanted = environment[variable], !wanted.isEmpty else { return fallback }
    let known = remotes.first { [$0.name, $0.shortName].contains { $0.lowercased() == wanted.lowercased() } }
    if let known { return known }
    let names = remotes.map(\.name).joined(separator: ", ")
    throw TaskError(
      .unknownRemote, "\(variable) names the unknown remote '\(wanted)'; known are: \(names)", phase: .preparing)
  }
}
