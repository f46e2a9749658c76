public import Foundation

/// What is kept out of everything that a person may read: echo, logs, errors, recordings, exports.
///
/// There is one policy and it is on by default. Names are compared without regard to case.
public struct Redaction: Sendable {
  /// Header fields whose values are hidden.
  public var headers: Set<HTTPHeaderName>
  /// Names in queries, forms and JSON bodies whose values are hidden.
  public var fields: Set<String>

  /// Hides the given names only.
  public init(headers: Set<HTTPHeaderName>, fields: Set<String>) {
    self.headers = headers
    self.fields = Set(fields.map { $0.lowercased() })
  }

  /// Credentials, cookies, keys, tokens and passwords.
  public static let standard = Redaction(
    headers: [
      .authorization, .proxyAuthorization, .cookie, .setCookie, "X-API-Key", "Api-Key", "X-Auth-Token",
      "X-Amz-Security-Token", "X-CSRF-Token", "Authentication-Info",
    ],
    fields: [
      "password", "passwd", "secret", "client_secret", "token", "access_token", "refresh_token", "id_token",
      "api_key", "apikey", "key", "signature", "sig", "code", "assertion", "authorization", "credential",
    ])

  /// Hides nothing.
  public static let none = Redaction(headers: [], fields: [])

  /// What stands in the place of a hidden value.
  public static let mark = "<redacted>"

  /// The fields with the values of secret ones hidden.
  public func callAsFunction(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(headers.map { self.headers.contains($0.name) ? .init($0.name, Self.mark) : $0 })
  }

  /// The URL without its user and password, the values of secret names in its query hidden.
  public func callAsFunction(_ url: URL) -> String { self(address: url.absoluteString) }

  /// The same for text that is perhaps no URL.
  package func callAsFunction(address text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }) else { return text }
    var parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    if let at = authority(of: parts[0]).lastIndex(of: "@") {
      let start = authority(of: parts[0]).startIndex
      parts[0] = Substring(parts[0][..<start] + Self.mark + parts[0][at...])
    }
    guard parts.count == 2, !fields.isEmpty else { return parts.joined(separator: "?") }
    return parts[0] + "?" + pairs(String(parts[1]))
  }

  /// A body for people to read: as text where its type is one, the values of secret names in JSON and forms hidden;
  /// a placeholder for anything else, and in the place of what goes past `limit` bytes.
  public func body(_ data: Data, type: MediaType?, limit: Int) -> String {
    guard !data.isEmpty else { return "" }
    guard data.count <= limit else { return Self.placeholder(for: data.count, over: limit) }
    guard type?.isText ?? true, let text = String(data: data, encoding: .utf8) else {
      return "<\(data.count) bytes of \(type?.essence ?? "data")>"
    }
    if type?.essence == MediaType.form.rawValue { return pairs(text) }
    guard !fields.isEmpty else { return text }
    var redactor = JSONRedactor(text) { fields.contains($0.lowercased()) }
    return redactor.redacted()
  }

  /// What stands in the place of a body that is too large.
  static func placeholder(for count: Int, over limit: Int) -> String {
    "<\(count) bytes, more than the \(limit) that are logged>"
  }

  private func authority(of text: Substring) -> Substring {
    guard let start = text.range(of: "://")?.upperBound else { return text.prefix(0) }
    return text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
  }

  private func pairs(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      let name = pair.prefix { $0 != "=" }
      let plain = name.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? String(name)
      return fields.contains(plain.lowercased()) ? "\(name)=\(Self.mark)" : String(pair)
    }.joined(separator: "&")
  }
}
