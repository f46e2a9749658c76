import ErrandFoundation

/// Decodes the `Content-Transfer-Encoding` of a part (RFC 2045 §6), chunk by chunk.
struct PartDecoder {
  private enum Encoding: String {
    case base64
    case quotedPrintable = "quoted-printable"
  }

  private let encoding: Encoding
  /// The bytes of an incomplete base64 group or escape.
  private var pending: [UInt8] = []
  private var hasPadding = false

  /// Returns `nil` if the part is not encoded.
  init?(_ headers: HTTPHeaders) {
    guard let encoding = headers[.contentTransferEncoding].flatMap({ Encoding(rawValue: $0.lowercased()) }) else {
      return nil
    }
    self.encoding = encoding
  }

  /// Decodes the complete groups or escapes of a chunk. Throws ``TaskError`` with code `.badResponse` if it is invalid.
  mutating func decode(_ chunk: Data) throws -> Data {
    switch encoding {
    case .base64: try decodeGroups(chunk)
    case .quotedPrintable: try decodeEscapes(chunk)
    }
  }

  mutating func finish() throws -> Data {
    switch encoding {
    case .base64:
      // Some senders omit the padding.
      let padding = String(repeating: "=", count: (4 - pending.count % 4) % 4)
      return try decodeGroups(Data(padding.utf8))
    case .quotedPrintable:
      guard pending.isEmpty || pending == Array("=".utf8) || pending == Array("=\r".utf8) else { throw refusal }
      return Data()
    }
  }

  private var refusal: TaskError { MultipartParser.refusal("a part has malformed \(encoding.rawValue)") }

  // RFC 2045 §6.8: line breaks are ignored.
  private mutating func decodeGroups(_ chunk: Data) throws -> Data {
    pending += chunk.filter { !" \t\r\n".utf8.contains($0) }
    let groups = pending.prefix(pending.count / 4 * 4)
    // Check the padding, because Foundation accepts it anywhere.
    let padding = groups[(groups.firstIndex(of: UInt8(ascii: "=")) ?? groups.endIndex)...]
    guard !hasPadding || pending.isEmpty, padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
      let content = Data(base64Encoded: Data(groups))
    else { throw refusal }
    pending.removeFirst(groups.count)
    hasPadding = hasPadding || !padding.isEmpty
    return content
  }

  // RFC 2045 §6.7: `=` followed by two hexadecimal digits is a byte; `=` before a line break joins two lines.
  private mutating func decodeEscapes(_ chunk: Data) throws -> Data {
    var rest = (pending + chunk)[...]
    pending = []
    var content = Data()
    while let byte = rest.first {
      guard byte == UInt8(ascii: "=") else {
        content.append(rest.removeFirst())
        continue
      }
      let escape = Array(rest.dropFirst().prefix(2))
      if escape.first == UInt8(ascii: "\n") {
        rest.removeFirst(2)
      } else if escape.count < 2 {
        pending = Array(rest)
        break
      } else if escape == Array("\r\n".utf8) {
        rest.removeFirst(3)
      } else if let high = escape[0].hexadecimalDigit, let low = escape[1].hexadecimalDigit {
        content.append(high << 4 | low)
        rest.removeFirst(3)
      } else {
        throw refusal
      }
    }
    return content
  }
}
