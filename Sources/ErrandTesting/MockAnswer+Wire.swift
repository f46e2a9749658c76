import Errand
import ErrandFoundation

// How a response looks on the wire.
extension MockAnswer {
  /// Status line and header fields, with the empty line after them.
  func head(of content: Content) -> Data {
    var headers = headers
    switch content {
    case .whole(let body), .truncated(let body, after: _):
      // RFC 9110 §8.6: none with 1xx and 204; with 304 it is that of the 200, which an empty body does not tell.
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

  /// The body as it is sent, piece by piece; none where HTTP allows none (RFC 9112 §6.3).
  func pieces(of content: Content, method: HTTPMethod) -> MockPieces {
    let isBodiless = method == .head || status == .noContent || status == .notModified || status.kind == .informational
    let limit = pace?.bytes ?? .max
    return switch content {
    case _ where isBodiless: MockPieces([], limit: limit)
    case .whole(let body): MockPieces([body], limit: limit)
    case .truncated(let body, let count): MockPieces([body.prefix(count)], limit: limit)
    case .chunked(let chunks): MockPieces(chunks, limit: limit, framing: .chunks)
    case .endless(let chunk): MockPieces([chunk], limit: limit, framing: .endlessChunks)
    }
  }

  /// True when the connection ends with this answer to a request with this head.
  func endsConnection(after head: MockRequestHead) -> Bool {
    if case .respond(.truncated) = conduct { return true }
    return isClosing || head.closes || headers[.connection]?.lowercased() == "close"
  }
}
