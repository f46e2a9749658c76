public import Errand
public import ErrandFoundation

/// A request as a ``MockServer`` received it.
public struct MockRequest: Sendable, Hashable {
  /// The method.
  public let method: HTTPMethod
  /// The target as it was sent: path and query, still escaped.
  public let target: String
  /// The header fields in the order in which they came.
  public let headers: HTTPHeaders
  /// The body; the first 64 MiB of a longer one.
  public internal(set) var body = Data()
  /// The number of bytes of the body that came, kept or not.
  public internal(set) var bodyLength = 0
  /// True when the body came to its end; false when the client went away before, and when the answer did not wait
  /// for it.
  public internal(set) var isBodyComplete = false
  /// The fields that came after the chunks of the body (RFC 9112 §7.1.2).
  public internal(set) var trailers = HTTPHeaders()
  /// The connection that carried it: 0 for the first that the server accepted.
  public let connectionIndex: Int
  /// Which request of its connection it is: 0 for the first.
  public let indexOnConnection: Int
  /// The values of the route's placeholders: `["id": "7"]` for `/widgets/:id`; what `*` stands for is under
  /// `"*"`.
  public internal(set) var parameters: [String: String] = [:]

  /// A longer body is counted, but no longer kept.
  static let bodyLimit = 64 << 20

  init(_ head: MockRequestHead, connectionIndex: Int = 0, indexOnConnection: Int = 0) {
    method = head.method
    target = head.target
    headers = head.headers
    self.connectionIndex = connectionIndex
    self.indexOnConnection = indexOnConnection
  }

  /// The path, unescaped.
  public var path: String { Self.unescaped(rawPath) }

  /// The items of the query, unescaped.
  public var query: HTTPQuery {
    guard let mark = target.firstIndex(of: "?") else { return [:] }
    let items = target[target.index(after: mark)...].split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return HTTPQuery.Item(Self.unescaped(parts[0]), parts.count == 2 ? Self.unescaped(parts[1]) : nil)
    }
    return HTTPQuery(items)
  }

  /// The segments of the path, divided before they are unescaped: an escaped slash divides nothing.
  var segments: [String] { rawPath.split(separator: "/").map(Self.unescaped) }

  mutating func append(_ bytes: Data) {
    bodyLength += bytes.count
    let room = Self.bodyLimit - body.count
    if room > 0 { body.append(bytes.prefix(room)) }
  }

  private var rawPath: Substring {
    let target = target.prefix { $0 != "?" }
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
    // RFC 9112 §3.2.2: a proxy is asked for a whole URL.
    return target[scheme.upperBound...].drop { $0 != "/" }
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    return text.percentDecoded ?? String(text)
  }
}
