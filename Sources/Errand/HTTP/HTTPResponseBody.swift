public import Foundation

/// The body of a response: chunks as they come, read once.
///
///     for try await chunk in response.body { … }
///
/// Nothing is read ahead of the reader beyond a fixed window, so a slow reader makes the sender wait. Leaving the loop
/// early, or letting the last reference go, ends the transfer and frees its connection.
public final class HTTPResponseBody: AsyncSequence, Sendable {
  /// A chunk, never empty.
  public typealias Element = Data

  /// How a body came to its end.
  package enum Ending: Sendable {
    /// It was read to its last byte.
    case complete
    /// Reading it failed.
    case failed(any Error)
    /// Nobody wanted the rest.
    case dropped

    /// What went wrong, if anything did.
    var error: (any Error)? {
      if case .failed(let error) = self { error } else { nil }
    }
  }

  /// What is to be done when a body has ended: it is told how, and where the body came from.
  package typealias EndAction = @Sendable (_ ending: Ending, _ source: (any HTTPBodySource)?) -> Void

  /// What is to be done when a body has ended: mostly one thing, which is kept without an array.
  private struct EndActions {
    private var first: EndAction?
    private var others: [EndAction] = []

    mutating func add(_ action: @escaping EndAction) {
      if first == nil { first = action } else { others.append(action) }
    }

    func run(_ ending: Ending, _ source: (any HTTPBodySource)?) {
      first?(ending, source)
      for action in others { action(ending, source) }
    }
  }

  private struct State {
    /// Where it comes from; nil where it is there already.
    var source: (any HTTPBodySource)?
    /// What is there already and was not read.
    var buffered = Data()
    /// The fields after the body, where its source was let go.
    var trailers = HTTPHeaders()
    var ending: Ending?
    var onEnd = EndActions()
    /// What a reader is to see in the place of a cancellation.
    var cause: (any Error)?
    /// Makes of what went wrong what a reader sees.
    var explain: (@Sendable (any Error) -> any Error)?
    /// Told how many bytes were read, chunk by chunk.
    var onChunk: (@Sendable (Int) -> Void)?
  }

  private let state: Lock<State>

  /// A body that comes from `source`.
  public init(_ source: any HTTPBodySource) { state = Lock(State(source: source)) }

  /// A body that is there already; empty unless given.
  public init(_ data: Data = Data()) { state = Lock(State(buffered: data)) }

  deinit { cancel() }

  /// The next chunk; nil at the end.
  /// Throws what went wrong with the transfer, and `CancellationError` when the surrounding task is cancelled.
  public func next() async throws -> Data? {
    do {
      let chunk: Data?
      if let source { chunk = try await source.next() } else { chunk = try takeBuffered() }
      if let chunk { count(chunk) } else { end(.complete) }
      return chunk
    } catch {
      throw failed(error)
    }
  }

  /// All that is left of the body.
  /// Throws ``HTTPBodyLimitError`` past `limit` bytes, and whatever ``next()`` throws.
  public func collect(upTo limit: Int = .max) async throws -> Data {
    do {
      let data: Data
      if let source { data = try await source.collect(upTo: limit) } else { data = try takeBuffered() ?? Data() }
      count(data)
      if data.count > limit { throw HTTPBodyLimitError(limit: limit) }
      end(.complete)
      return data
    } catch {
      source?.cancel()
      throw failed(error)
    }
  }

  /// Ends the transfer, if it has not ended by itself.
  public func cancel() {
    source?.cancel()
    end(.dropped)
  }

  /// Ends the transfer and has whoever reads see `error`.
  package func fail(_ error: any Error) {
    state.withLock { $0.cause = $0.cause ?? error }
    source?.cancel()
    end(.failed(error))
  }

  /// Notes that reading failed; returns what the reader sees.
  private func failed(_ error: any Error) -> any Error {
    let (cause, explain) = state.withLock { ($0.cause, $0.explain) }
    let error = cause ?? error
    end(.failed(error))
    return explain?(error) ?? error  // with the end noted: it may be part of the explanation
  }

  private var source: (any HTTPBodySource)? { state.withLock { $0.source } }

  /// The whole body, where it is in memory and nobody has begun to read it.
  package var inMemory: Data? { state.withLock { $0.source == nil ? $0.buffered : nil } }

  /// Puts back what was collected, to be read once more, and lets go of where it came from.
  package func refill(_ data: Data) {
    let trailers = trailers
    // To be let go outside of the lock.
    _ = state.withLock { state in
      defer { state.source = nil }
      state.buffered = data
      state.trailers = trailers
      return state.source
    }
  }

  /// Puts another source in the place of one that was read to its end.
  package func refill(from source: any HTTPBodySource) {
    let trailers = trailers
    // To be let go outside of the lock.
    _ = state.withLock { state in
      let old = state.source
      state.source = source
      state.trailers = trailers
      return old
    }
  }

  /// The fields after the body; empty until its end.
  public var trailers: HTTPHeaders {
    let (source, kept) = state.withLock { ($0.source, $0.trailers) }
    return source?.trailers ?? kept
  }

  /// What the transfer took; nil until its end, and for a body that is in memory.
  public var timings: TransferTimings? { source?.timings }

  /// Has `action` called once when the body has ended or was let go; at once if that is so already.
  package func onEnd(_ action: @escaping EndAction) {
    let (past, source) = state.withLock { state -> (Ending?, (any HTTPBodySource)?) in
      if state.ending == nil { state.onEnd.add(action) }
      return (state.ending, state.source)
    }
    if let past { action(past, source) }
  }

  /// Has readers see what `explain` makes of what goes wrong.
  package func explainFailures(_ explain: @escaping @Sendable (any Error) -> any Error) {
    state.withLock { $0.explain = explain }
  }

  /// Has `action` told how many bytes were read, chunk by chunk.
  package func onChunk(_ action: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onChunk = action } }

  private func count(_ chunk: Data) { state.withLock { $0.onChunk }?(chunk.count) }

  private func end(_ ending: Ending) {
    let (actions, source) = state.withLock { state -> (EndActions?, (any HTTPBodySource)?) in
      guard state.ending == nil else { return (nil, nil) }
      state.ending = ending
      defer { state.onEnd = EndActions() }
      return (state.onEnd, state.source)
    }
    actions?.run(ending, source)
  }

  private func takeBuffered() throws -> Data? {
    try state.withLock { state in
      if let cause = state.cause { throw cause }
      defer { state.buffered = Data() }
      return state.buffered.isEmpty ? nil : state.buffered
    }
  }

  /// Reads a body; ends the transfer when it is let go before the end.
  public final class AsyncIterator: AsyncIteratorProtocol {
    private let body: HTTPResponseBody

    init(_ body: HTTPResponseBody) { self.body = body }

    deinit { body.cancel() }

    /// The next chunk; nil at the end.
    public func next() async throws -> Data? { try await body.next() }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
