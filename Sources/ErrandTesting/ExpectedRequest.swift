public import Errand
public import ErrandFoundation

/// The request that a task is expected to send; see ``expectTask(_:sends:otherProperties:)``.
public struct ExpectedRequest: Sendable {
  /// The expected body.
  public enum Body: Sendable, Hashable {
    /// Any body, or no body.
    case any
    /// No body.
    case empty
    /// A text in UTF-8.
    case text(String)
    /// A JSON body, compared regardless of whitespace and the order of keys.
    case json(String)
    /// Exactly these bytes.
    case data(Data)
  }

  /// The method.
  public var method: HTTPMethod
  /// The escaped path relative to the remote, with its query, such as `/widgets/7?full=1`. For a task without a path,
  /// the complete URL, such as `https://api.test/graphql`.
  public var target: String
  /// Header fields that must be present with these values. Other fields are allowed.
  public var headers: HTTPHeaders
  /// The body.
  public var body: Body

  /// Creates an expected request.
  public init(_ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], body: Body = .any) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  func differences(from request: HTTPRequest, body: Data) -> [String] {
    var lines: [String] = []
    func compare(_ name: String, _ expected: String?, _ actual: String?) {
      guard expected != actual else { return }
      let quoted = [expected, actual].map { $0.map { "\($0.debugDescription)" } ?? "nothing" }
      lines.append("\(name): expected \(quoted[0]), got \(quoted[1])")
    }
    compare("method", method.rawValue, request.method.rawValue)
    compare("target", target, Self.target(of: request.url, like: target))
    for field in headers { compare("header \(field.name)", headers[field.name], request.headers[field.name]) }
    switch self.body {
    case .any: break
    case .empty: if !request.body.isEmpty { lines.append("body: expected none, got \(body.count) bytes") }
    case .text(let text): compare("body", text, String(decoding: body, as: UTF8.self))
    case .json(let text): compare("body", CanonicalJSON.text(of: Data(text.utf8)), CanonicalJSON.text(of: body))
    case .data(let data):
      if data != body { lines.append("body: expected \(data.count) bytes, got \(body.count) different bytes") }
    }
    return lines
  }

  private static func target(of url: URL, like expected: String) -> String {
    let text = url.absoluteString
    guard !expected.contains("://"), let scheme = text.firstRange(of: "://") else { return text }
    let rest = text[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    return rest.hasPrefix("/") ? String(rest) : "/" + rest
  }
}
