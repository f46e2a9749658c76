public import ErrandFoundation

/// A server's base URL, optionally with a path prefix and a query, and its names.
///
///     extension Remote {
///       static let staging = Remote("https://staging.example.com/api", name: "staging", shortName: "stg")
///     }
///
/// The query is added to every request, except to URLs from a response, such as the link to the next page. A fragment
/// is an error, because it would never be sent. A user name is also an error: use
/// ``ServerConfiguration/authentication`` instead.
public struct Remote: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The URL as passed in. If the URL is malformed, the first call fails with an error that contains the remote's name.
  public let address: String
  /// The name shown in messages and used in environment variables. Defaults to the host, or to the address if there is
  /// no host.
  public let name: String
  /// A shorter name. Defaults to ``name``.
  public let shortName: String

  /// Creates a remote from a URL string.
  public init(_ address: String, name: String? = nil, shortName: String? = nil) {
    self.address = address
    self.name = name ?? URL(string: address)?.host(percentEncoded: false) ?? Redaction.standard(address: address)
    self.shortName = shortName ?? self.name
  }

  /// Creates a remote from a URL.
  public init(_ url: URL, name: String? = nil, shortName: String? = nil) {
    self.init(url.absoluteString, name: name, shortName: shortName)
  }

  /// Creates a remote from a URL string.
  public init(stringLiteral value: String) { self.init(value) }

  /// No remote. Calls fail until the server has a remote.
  public static let none = Remote("", name: "none")

  /// The URL. `nil` if the address is empty or malformed.
  public var url: URL? { address.isEmpty ? nil : URL(string: address) }

  /// The address without its fragment and query, and the query if it is not empty.
  var parts: (base: String, query: String?) {
    let sent = address.prefix { $0 != "#" }
    let parts = sent.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
    return (parts.first.map { String($0) } ?? "", query)
  }

  var fragment: String? { address.firstIndex(of: "#").map { String(address[$0...]) } }

  private var hasUser: Bool {
    guard let scheme = parts.base.firstRange(of: "://") else { return false }
    return parts.base[scheme.upperBound...].prefix { $0 != "/" && $0 != "\\" }.contains("@")
  }

  /// The error for a user name, a fragment or an invalid path segment.
  var problem: TaskError? {
    // RFC 9110 §4.2.4: the URL would reveal the password wherever it is displayed.
    if hasUser {
      return TaskError(
        .badURL,
        "the remote '\(name)' has a user name in its URL: remove it, and set authentication = .basic(user:password:)",
        phase: .preparing)
    }
    if let fault = PathSegments.problem(in: address[...]) {
      return TaskError(.badURL, "the remote '\(name)' has \(fault)", phase: .preparing)
    }
    guard let fragment else { return nil }
    return TaskError(
      .badURL,
      "the remote '\(name)' has the fragment '\(Redaction.standard(address: fragment))', which is never sent: remove it",
      phase: .preparing)
  }

  /// The name and the URL, without its user name and password.
  public var description: String { "\(name) (\(Redaction.standard(address: address)))" }

  /// Returns the remote selected by an environment variable.
  ///
  /// - Parameters:
  ///   - variable: The variable. Its value is compared with names and short names, ignoring case.
  ///   - remotes: The known remotes.
  ///   - fallback: The remote to use if the variable is not set or is empty.
  ///   - environment: The environment variables. Defaults to those of the process.
  /// - Returns: One of `remotes`, or `fallback`.
  /// - Throws: ``TaskError`` with code `.unknownRemote`, which lists the known names.
  public static func fromEnvironment(
    _ variable: String, among remotes: [Remote], default fallback: Remote,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Remote {
    guard let wanted = environment[variable], !wanted.isEmpty else { return fallback }
    let known = remotes.first { [$0.name, $0.shortName].contains { $0.lowercased() == wanted.lowercased() } }
    if let known { return known }
    let names = remotes.map(\.name).joined(separator: ", ")
    throw TaskError(
      .unknownRemote, "\(variable) names an unknown remote '\(wanted)'; known remotes: \(names)", phase: .preparing)
  }
}
