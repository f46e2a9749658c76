public import ErrandFoundation

/// The body of a request: empty, bytes, a file, or a stream of chunks.
///
/// Bytes and files are replayable, which means that they can be sent again. A stream is replayable if it is created
/// from a closure that returns a new sequence each time. A body that isn't replayable is never sent twice, and never
/// replaced by an empty body.
public struct HTTPBody: Sendable {
  /// Passes each chunk to `sink` in order and waits until the chunk is accepted.
  package typealias Source = @Sendable (_ sink: @Sendable (Data) async throws -> Void) async throws -> Void

  package enum Storage: Sendable {
    case empty
    case bytes(Data)
    case file(URL)
    case stream(Source)
  }

  /// A class, so that streams can be compared by identity. Their bytes can't be compared.
  private final class Identity: Sendable {
    let trailers: Trailers?
    let isInMemory: Bool
    let isProduced: Bool

    init(_ trailers: Trailers?, isInMemory: Bool, isProduced: Bool) {
      self.trailers = trailers
      self.isInMemory = isInMemory
      self.isProduced = isProduced
    }
  }

  package let storage: Storage
  /// Whether the body can be sent again.
  public let isReplayable: Bool
  /// The media type. Sent as `Content-Type`, unless the request already has one.
  public var mediaType: MediaType?
  private let statedLength: Int64?
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

  /// Creates a body from data.
  public static func bytes(_ data: Data, type: MediaType? = nil) -> HTTPBody {
    HTTPBody(.bytes(data), length: Int64(data.count), type: type)
  }

  /// Creates a body from text, sent as UTF-8.
  public static func text(_ text: String) -> HTTPBody { bytes(Data(text.utf8), type: .plainText) }

  /// Creates a body from the contents of a file, which is opened and read for each attempt. The media type defaults to
  /// the type for the file extension.
  ///
  /// If the system doesn't know the size of a file, such as `/proc/version`, the file is read to its end and sent
  /// without a length. If the size changes while the file is being sent, the call fails with `.bodyLengthMismatch`.
  public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
    HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension))
  }

  /// Creates a replayable stream. `make` is called for each attempt.
  ///
  /// - Parameters:
  ///   - length: The total number of bytes, if known. Sent as `Content-Length`. If the stream is shorter or longer, the
  ///     call fails. Without a length, the body is sent in chunks.
  ///   - make: Returns the sequence of chunks.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    length: Int64? = nil, _ make: @escaping @Sendable () throws -> Chunks
  ) -> HTTPBody where Chunks.Element == Data {
    HTTPBody(
      .stream { sink in for try await chunk in try make() { try await sink(chunk) } }, length: length, isProduced: true)
  }

  /// Creates a stream that can only be read once. The request can't be retried after reading has started.
  ///
  /// - Parameters:
  ///   - chunks: The chunks, in order.
  ///   - length: The total number of bytes, if known.
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

  /// Creates a stream that combines several sources.
  static func composed(
    length: Int64?, isReplayable: Bool, type: MediaType?, trailers: Trailers? = nil, isInMemory: Bool = false,
    isProduced: Bool, _ source: @escaping Source
  ) -> HTTPBody {
    HTTPBody(
      .stream(source), isReplayable: isReplayable, length: length, type: type, trailers: trailers,
      isInMemory: isInMemory, isProduced: isProduced)
  }

  package var trailers: Trailers? { identity?.trailers }

  /// Whether the request has no body. A body with zero bytes is not empty.
  public var isEmpty: Bool {
    if case .empty = storage { true } else { false }
  }

  /// Whether the app's code produces the body while it is being sent.
  package var isProduced: Bool { identity?.isProduced ?? false }

  /// Whether all bytes are available before sending starts.
  package var isInMemory: Bool {
    switch storage {
    case .empty, .bytes: true
    case .file: false
    case .stream: identity?.isInMemory ?? false
    }
  }

  func isSame(as other: HTTPBody) -> Bool {
    switch (storage, other.storage) {
    case (.empty, .empty): true
    case (.bytes(let mine), .bytes(let others)): mine == others
    case (.file(let mine), .file(let others)): mine == others
    case (.stream, .stream): identity === other.identity
    default: false
    }
  }

  /// The bytes, or `nil` if the body isn't in memory.
  public var data: Data? {
    if case .bytes(let data) = storage { data } else { nil }
  }

  /// The length in bytes, or 0 if it is unknown.
  var knownLength: Int { (try? length()).flatMap { $0 }.map { Int($0) } ?? 0 }

  /// Returns the length in bytes: the specified length, the number of bytes in memory, or the size of the file. Returns
  /// `nil` if the length is unknown, as for files in `/proc`.
  ///
  /// Throws an error if the file can't be read.
  public func length() throws -> Int64? {
    switch storage {
    case .empty: return 0
    case .bytes, .stream: return statedLength
    case .file(let url): return try Self.length(of: url)
    }
  }

  /// Returns the size of a file, or `nil` if the system doesn't know it. Files in `/proc` report a size of zero,
  /// although they have content.
  static func length(of file: URL) throws -> Int64? {
    let descriptor = try open(file)
    defer { close(descriptor) }
    guard let length = Descriptor.length(of: descriptor) else { throw Failure.unreadable(path: file.path) }
    guard length == 0 else { return length }
    guard let first = Descriptor.bytes(of: descriptor, atMost: 1) else { throw Failure.unreadable(path: file.path) }
    return first.isEmpty ? 0 : nil
  }

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
    // The path of a non-file URL doesn't refer to a local file.
    guard url.isFileURL else {
      throw Failure.unreadable(path: "the \(url.scheme ?? "") URL with the path '\(url.path)'")
    }
    guard let descriptor = Descriptor.opened(url.path) else { throw Failure.unreadable(path: url.path) }
    return descriptor
  }

  package enum Failure: Error {
    /// The body can only be read once and has already been read.
    case consumed
    case unreadable(path: String)
  }
}
