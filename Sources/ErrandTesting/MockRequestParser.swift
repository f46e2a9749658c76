import Errand
import ErrandFoundation

/// Parses consecutive HTTP/1.1 requests from a stream of bytes.
///
/// Add bytes with ``append(_:)`` and call ``next()`` until it returns `.incomplete`.
struct MockRequestParser {
  enum Event: Equatable {
    case head(MockRequestHead)
    case body(Data)
    /// The end of a request, with or without a body.
    case end
    case incomplete
    /// Invalid input. Nothing after it can be parsed.
    case malformed(String)
  }

  enum Stage: Equatable {
    case head
    case content(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case failed(String)
  }

  /// The maximum size of a head or line, in bytes.
  static let headLimit = 1 << 20

  var stage = Stage.head
  var trailers = HTTPHeaders()
  var buffer: [UInt8] = []
  var position = 0
  /// The index at which the search for the end of a line or head continues, so that each byte is only scanned once.
  var searched = 0

  mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      searched = max(searched - position, 0)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  mutating func next() -> Event {
    do throws(Malformed) {
      return try advance()
    } catch {
      stage = .failed(error.reason)
      return .malformed(error.reason)
    }
  }

  /// Whether there are unread bytes, from this body or the next request.
  var hasUnreadBytes: Bool { position < buffer.count }

  private mutating func advance() throws(Malformed) -> Event {
    while true {
      switch stage {
      case .head: return try nextHead()
      case .content(let left): return nextContent(left: left)
      case .chunk(let left): return nextChunk(left: left)
      case .chunkSize, .chunkEnd, .trailers:
        guard let line = try nextLine() else { return .incomplete }
        if try endsBody(line) { return .end }
      case .failed(let reason): throw Malformed(reason)
      }
    }
  }

  private mutating func nextContent(left: Int) -> Event {
    guard left > 0 else {
      stage = .head
      return .end
    }
    guard let data = take(upTo: left) else { return .incomplete }
    stage = .content(left: left - data.count)
    return .body(data)
  }

  private mutating func nextChunk(left: Int) -> Event {
    guard let data = take(upTo: left) else { return .incomplete }
    stage = left == data.count ? .chunkEnd : .chunk(left: left - data.count)
    return .body(data)
  }

  private mutating func take(upTo limit: Int) -> Data? {
    let end = position + min(limit, buffer.count - position)
    guard end > position else { return nil }
    defer {
      position = end
      searched = end
    }
    return Data(buffer[position..<end])
  }
}

extension MockRequestParser {
  struct Malformed: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }
}
