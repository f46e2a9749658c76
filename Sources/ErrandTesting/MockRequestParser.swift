import Errand
import ErrandFoundation

/// Reads HTTP/1.1 requests out of bytes as they come, one after the other.
///
/// It is a value: bytes go in with ``append(_:)``, events come out of ``next()`` until it says `.incomplete`.
struct MockRequestParser {
  /// A part of a request that was read.
  enum Event: Equatable {
    /// A request begins.
    case head(MockRequestHead)
    /// The next bytes of its body.
    case body(Data)
    /// The request is complete; a request without a body is followed by this, too.
    case end
    /// More bytes are needed.
    case incomplete
    /// These bytes are no request, and nothing after them can be understood.
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

  /// A head or a line that is longer is malformed.
  static let headLimit = 1 << 20

  var stage = Stage.head
  /// The fields after the chunks of the body that was read last.
  var trailers = HTTPHeaders()
  var buffer: [UInt8] = []
  /// The place in the buffer at which the unread bytes begin.
  var position = 0
  /// The place that the search for the end of a line or head has come to, so that no byte is looked at twice.
  var searched = 0

  /// Takes bytes as they came.
  mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      searched = max(searched - position, 0)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next event.
  mutating func next() -> Event {
    do throws(Malformed) {
      return try advance()
    } catch {
      stage = .failed(error.reason)
      return .malformed(error.reason)
    }
  }

  /// True when bytes of the present request's body, or of the next request, are there already.
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
  /// Why bytes are no request.
  struct Malformed: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }
}
