/// The part of a representation that a response carries (RFC 9110 §14.4).
public struct ContentRange: Sendable, Hashable {
  /// The positions of its bytes, counted from 0.
  public let positions: ClosedRange<Int>
  /// The length of the whole in bytes; nil where the sender does not know.
  public let length: Int?

  /// The part in `Content-Range`; nil where there is none, or it is malformed or in another unit.
  init?(_ headers: HTTPHeaders) {
    let lines = headers.values(for: .contentRange)
    guard lines.count == 1, let line = lines.first, line.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = line.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = ByteRange.position(bounds[0]), let last = ByteRange.position(bounds[1]),
      first <= last
    else { return nil }
    guard parts[1] != "*" else {
      (positions, length) = (first...last, nil)
      return
    }
    guard let length = ByteRange.position(parts[1]), last < length else { return nil }
    (positions, self.length) = (first...last, length)
  }

  /// The length of the whole that a refused range names, `bytes */1024` (RFC 9110 §15.5.17); nil where it names none.
  static func completeLength(_ headers: HTTPHeaders) -> Int? {
    let lines = headers.values(for: .contentRange)
    guard lines.count == 1, let line = lines.first, line.lowercased().hasPrefix("bytes */") else { return nil }
    return ByteRange.position(line.dropFirst(8))
  }

  /// True where the part answers a range: it begins there, and does not go on behind it.
  func answers(_ range: ByteRange) -> Bool {
    switch range.bounds {
    case .from(let first, let last): positions.lowerBound == first && positions.upperBound <= last ?? .max
    case .suffix(let count): length.map { positions.upperBound == $0 - 1 && positions.count <= count } ?? true
    }
  }
}

extension HTTPResponse {
  /// The part that the response carries; nil for one that has the whole, several parts, or a `Content-Range` that is none.
  public var contentRange: ContentRange? { ContentRange(headers) }

  /// The bytes that the body has by its `Content-Range`; nil where that does not say, or the body is packed.
  var sizeOfPart: Int? { status == .partialContent && !isPacked ? contentRange?.positions.count : nil }

  /// The reason why this 206 is not the part that a request asks for; nil where it is (RFC 9110 §15.3.7).
  func refusedPart(of request: HTTPRequest) -> String? {
    guard let asked = request.headers[.range] else { return "a part was sent, though the request has no Range" }
    // Several ranges come as a body of several parts.
    guard let range = ByteRange(request.headers) else { return nil }
    let sent = headers[.contentRange].map { "'\($0.shortened)'" } ?? "missing"
    guard let part = ContentRange(headers), part.answers(range) else {
      return "a part was sent that is not the one asked for: Range is '\(asked)', Content-Range is \(sent)"
    }
    if let length = headers[.contentLength].flatMap(Int.init), length != part.positions.count, !isPacked {
      return "a part of \(length) bytes was sent, of which Content-Range says something else: \(sent)"
    }
    return nil
  }

  private var isPacked: Bool { headers[.contentEncoding].map { $0.lowercased() != "identity" } ?? false }
}
