public import Errand
public import ErrandFoundation

/// A request received by a ``MockServer``.
public struct MockRequest: Sendable, Hashable {
  /// The method.
  public let method: HTTPMethod
  /// The target as sent: the path and query, still escaped.
  public let target: String
  /// The header fields, in the order received.
  public let headers: HTTPHeaders
  /// The body, up to the first 64 MiB.
  public internal(set) var body = Data()
  /// The number of body bytes received, including those beyond the limit of ``body``.
  public internal(set) var bodyLength = 0
  /// Whether the entire body was received. `false` if the client disconnected or the answer did not wait for the body.
  public internal(set) var isBodyComplete = false
  /// The trailer fields after a chunked body (RFC 9112 §7.1.2).
  public internal(set) var trailers = HTTPHeaders()
  /// The index of the connection. The first connection that the server accepted has index 0.
  public let connectionIndex: Int
  /// The index of the request on its connection, starting at 0.
  public let indexOnConnection: Int
  /// The values of the route's placeholders, such as `["id": "7"]` for `/widgets/:id`. The value of `*` has the key
  /// `"*"`.
  public internal(set) var parameters: [String: String] = [:]

  static let bodyLimit = 64 << 20

  init(_ head: MockRequestHead, connectionIndex: Int = 0, indexOnConnection: Int = 0) {
    method = head.method
    target = head.target
    headers = head.headers
    self.connectionIndex = connectionIndex
    self.indexOnConnection = indexOnConnection
  }

  /// The unescaped path.
  public var path: String { Self.unescaped(rawPath) }

  /// The unescaped query items.
  public var query: HTTPQuery {
    guard let mark = target.firstIndex(of: "?") else { return [:] }
    let items = target[target.index(after: mark)...].split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return HTTPQuery.Item(Self.unescaped(parts[0]), parts.count == 2 ? Self.unescaped(parts[1]) : nil)
    }
    return HTTPQuery(items)
  }

  /// The path segments, split before unescaping, so that an escaped slash does not split a segment.
  var segments: [String] { rawPath.split(separator: "/").map(Self.unescaped) }

  mutating func append(_ bytes: Data) {
    bodyLength += bytes.count
    let room = Self.bodyLimit - body.count
    if room > 0 { body.append(bytes.prefix(room)) }
  }

  /// The escaped path.
  var rawPath: Substring {
    let target = target.prefix { $0 != "?" }
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
    // RFC 9112 §3.2.2: requests to a proxy contain an absolute URL.
    return target[scheme.upperBound...].drop { $0 != "/" }
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    return text.percentDecoded ?? String(text)
  }
}
