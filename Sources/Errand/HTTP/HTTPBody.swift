public import ErrandFoundation

/// The body of a request: nothing, bytes, a file, or a stream of chunks.
///
/// A body knows whether it can be sent again. Bytes and files can; a stream can when it was given as a closure that
/// makes a new sequence each time. A body that cannot is never sent twice, and never sent empty instead.
public struct HTTPBody: Sendable {
  /// Hands every chunk to `sink`, in order, waiting for each to be taken.
  package typealias Source = @Sendable (_ sink: @Sendable (Data) async throws -> Void) async throws -> Void

  package enum Storage: Sendable {
    case empty
    case bytes(Data)
    case file(URL)
    case stream(Source)
  }

  /// The identity of a stream: two streams cannot be compared by their bytes.
  private final class Identity: Sendable {
    let trailers: Trailers?
    /// Whether all of the bytes are there at once.
    let isInMemory: Bool
    /// Whether code of the app produces the bytes.
    let isProduced: Bool

    init(_ trailers: Trailers?, isInMemory: Bool, isProduced: Bool) {
      self.trailers = trailers
      self.isInMemory = isInMemory
      self.isProduced = isProduced
    }
  }

  package let storage: Storage
  /// True where the body can be sent a second time.
  public let isReplayable: Bool
  /// The media type; sent as `Content-Type` unless the request has one already.
  public var mediaType: MediaType?
  private let statedLength: Int64?
  /// Nil for all but streams.
  private let identity: Identity?

  private init(
    _ storage: Storage, isReplayable: Bool = true, length: Int64? = nil, type: MediaType? = nil,
    trailers: Trailers? = nil, isInMemory: Bool = false, isProduced: Bool = false
  ) {
    self.storage = storage
    self.isReplayable = isReplayable
    mediaType = type
    statedLength = length
    if case .stream = storage {
      identity = Identity(trailers, isInMemory: isInMemory, isProduced: isProduced)
    } else {
      identity = nil
    }
  }

  /// No body.
  public static let empty = HTTPBody(.empty)

  /// These bytes.
  public static func bytes(_ data: Data, type: MediaType? = nil) -> HTTPBody {
    HTTPBody(.bytes(data), length: Int64(data.count), type: type)
  }

  /// This text as UTF-8.
  public static func text(_ text: String) -> HTTPBody { bytes(Data(text.utf8), type: .plainText) }

  /// The contents of a file, read as they are sent. Opened when the request is sent, again for every attempt. Its media type is that of
  /// its extension unless given.
  ///
  /// A file whose size the system doesn't know, such as `/proc/version`, is read to its end, and sent without a length. A file
  /// whose size changes while it is sent fails the call with `.bodyLengthMismatch`.
  public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
    HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension))
  }

  /// Chunks that can be made again: `make` is called for every attempt.
  ///
  /// - Parameters:
  ///   - length: The number of bytes in all, if it is known; sent as `Content-Length`. A stream that turns out
  ///     shorter or longer is an error. Without it the body is sent in chunks of unknown total length.
  ///   - make: Makes the sequence of chunks.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    length: Int64? = nil, _ make: @escaping @Sendable () throws -> Chunks
  ) -> HTTPBody where Chunks.Element == Data {
    HTTPBody(
      .stream { sink in for try await chunk in try make() { try await sink(chunk) } }, length: length, isProduced: true)
  }

  /// Chunks that come once: the request cannot be repeated once reading them has begun.
  ///
  /// - Parameters:
  ///   - chunks: The chunks in order.
  ///   - length: The number of bytes in all, if it is known.
  public static func once<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil) -> HTTPBody
  where Chunks.Element == Data {
    let isTaken = Lock(false)
    let source: Source = { sink in
      let wasTaken = isTaken.withLock { isTaken in
        defer { isTaken = true }
        return isTaken
      }
      if wasTaken { throw Failure.consumed }
      for try await chunk in chunks { try await sink(chunk) }
    }
    return HTTPBody(.stream(source), isReplayable: false, length: length, isProduced: true)
  }

  /// Chunks of several sources.
  ///
  /// - Parameters:
  ///   - length: The number of bytes in all, if it is known.
  ///   - isReplayable: Whether all of the sources can be read again.
  ///   - type: The media type.
  ///   - trailers: The fields after the chunks; nil where there are none.
  ///   - isInMemory: Whether the chunks are those of a body in memory.
  ///   - isProduced: Whether code of the app produces any of the chunks.
  ///   - source: Hands over the chunks.
  static func composed(
    length: Int64?, isReplayable: Bool, type: MediaType?, trailers: Trailers? = nil, isInMemory: Bool = false,
    isProduced: Bool, _ source: @escaping Source
  ) -> HTTPBody {
    HTTPBody(
      .stream(source), isReplayable: isReplayable, length: length, type: type, trailers: trailers,
      isInMemory: isInMemory, isProduced: isProduced)
  }

  /// The fields after the body; nil for most, which have none.
  package var trailers: Trailers? { identity?.trailers }

  /// True where there is no body at all. A body of no bytes is still a body.
  public var isEmpty: Bool {
    if case .empty = storage { true } else { false }
  }

  /// Whether code of the app produces the body while it is sent.
  package var isProduced: Bool { identity?.isProduced ?? false }

  /// True where all of the bytes are there before any is sent.
  package var isInMemory: Bool {
    switch storage {
    case .empty, .bytes: true
    case .file: false
    case .stream: identity?.isInMemory ?? false
    }
  }

  /// True when this body is the other one: the same bytes, the same file, or the very same stream.
  func isSame(as other: HTTPBody) -> Bool {
    switch (storage, other.storage) {
    case (.empty, .empty): true
    case (.bytes(let mine), .bytes(let others)): mine == others
    case (.file(let mine), .file(let others)): mine == others
    case (.stream, .stream): identity === other.identity
    default: false
    }
  }

  /// The bytes, where they are in memory.
  public var data: Data? {
    if case .bytes(let data) = storage { data } else { nil }
  }

  /// The number of bytes, as far as it is known.
  var knownLength: Int { (try? length()).flatMap { $0 }.map { Int($0) } ?? 0 }

  /// The number of bytes: stated, counted or the file's; nil when unknown, as for a file of `/proc`.
  /// Throws when the file cannot be read.
  public func length() throws -> Int64? {
    switch storage {
    case .empty: return 0
    case .bytes, .stream: return statedLength
    case .file(let url): return try Self.length(of: url)
    }
  }

  /// The size of a file; `nil` if the system doesn't know it: the files of `/proc` have no size, and do have content.
  /// Throws ``Failure`` if the file can't be read.
  static func length(of file: URL) throws -> Int64? {
    let descriptor = try open(file)
    defer { close(descriptor) }
    guard let length = Descriptor.length(of: descriptor) else { throw Failure.unreadable(path: file.path) }
    guard length == 0 else { return length }
    guard let first = Descriptor.bytes(of: descriptor, atMost: 1) else { throw Failure.unreadable(path: file.path) }
    return first.isEmpty ? 0 : nil
  }

  /// Hands every chunk to `sink`, in order.
  @concurrent package func forEachChunk(_ sink: @Sendable (Data) async throws -> Void) async throws {
    switch storage {
    case .empty: break
    case .bytes(let data): try await sink(data)
    case .stream(let source): try await source(sink)
    case .file(let url):
      let descriptor = try Self.open(url)
      defer { close(descriptor) }
      while true {
        guard let chunk = Descriptor.bytes(of: descriptor, atMost: 256 << 10) else {
          throw Failure.unreadable(path: url.path)
        }
        if chunk.isEmpty { return }
        try await sink(chunk)
      }
    }
  }

  static func open(_ url: URL) throws -> Int32 {
    // The path of any other URL is no place on this machine.
    guard url.isFileURL else { throw Failure.unreadable(path: "the \(url.scheme ?? "") URL of '\(url.path)'") }
    guard let descriptor = Descriptor.opened(url.path) else { throw Failure.unreadable(path: url.path) }
    return descriptor
  }

  /// A reason why a body could not be read.
  package enum Failure: Error {
    /// It comes once, and has come.
    case consumed
    /// The file cannot be opened or read.
    case unreadable(path: String)
  }
}
