import Errand
import ErrandFoundation

extension MockAnswer {
  func head(of content: Content) -> Data {
    var headers = headers
    switch content {
    case .whole(let body), .truncated(let body, after: _):
      // RFC 9110 §8.6: 1xx and 204 responses have no Content-Length. In a 304, it is the length of the 200 response,
      // which is unknown if the body is empty.
      let isUnsaid = status == .notModified && body.isEmpty
      if status.kind != .informational, status != .noContent, !isUnsaid {
        headers.setDefault("\(body.count)", for: .contentLength)
      }
    case .chunked, .endless: headers.setDefault("chunked", for: .transferEncoding)
    }
    if isClosing { headers.setDefault("close", for: .connection) }

    var text = "HTTP/1.1 \(status.code) \(status.phrase)\r\n"
    for field in headers { text += "\(field.name.rawName): \(field.value)\r\n" }
    text += "\r\n"
    return Data(text.utf8)
  }

  /// Whether HTTP allows a body in the response (RFC 9112 §6.3).
  func hasBody(inResponseTo method: HTTPMethod) -> Bool {
    method != .head && status != .noContent && status != .notModified && status.kind != .informational
  }

  /// Returns the chunks of the body to send. Empty if HTTP does not allow a body.
  func pieces(of content: Content, method: HTTPMethod) -> MockPieces {
    let limit = pace?.bytes ?? .max
    return switch content {
    case _ where !hasBody(inResponseTo: method): MockPieces([], limit: limit)
    case .whole(let body): MockPieces([body], limit: limit)
    case .truncated(let body, let count): MockPieces([body.prefix(count)], limit: limit)
    case .chunked(let chunks): MockPieces(chunks, limit: limit, framing: .chunks)
    case .endless(let chunk): MockPieces([chunk], limit: limit, framing: .endlessChunks)
    }
  }

  func endsConnection(after head: MockRequestHead) -> Bool {
    if case .respond(.truncated) = conduct { return true }
    return isClosing || head.closes || headers[.connection]?.lowercased() == "close"
  }
}
