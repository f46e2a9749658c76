public import ErrandFoundation

/// The body of a response: an asynchronous sequence of chunks.
///
///     for try await chunk in response.body { … }
///
/// A body in memory can be read again, so a step can read it before the call does. A streamed body can be read once.
///
/// Only a fixed window is read ahead, so a slow reader slows the sender down. Leaving the loop early or releasing the
/// last reference ends the transfer and frees its connection.
public final class HTTPResponseBody: AsyncSequence, Sendable {
  /// A chunk. Never empty.
  public typealias Element = Data

  package enum Ending: Sendable {
    case complete
    case failed(any Error)
    /// The rest of the body was discarded.
    case dropped

    var error: (any Error)? {
      if case .failed(let error) = self { error } else { nil }
    }
  }

  package typealias EndAction = @Sendable (_ ending: Ending, _ source: (any HTTPBodySource)?) -> Void

  /// The end actions. Usually there is only one, which is stored without an array.
  private struct EndActions {
    private var first: EndAction?
    private var others: [EndAction] = []

    mutating func add(_ action: @escaping EndAction) {
      if first == nil { first = action } else { others.append(action) }
    }

    var isEmpty: Bool { first == nil }

    func run(_ ending: Ending, _ source: (any HTTPBodySource)?) {
      first?(ending, source)
      for action in others { action(ending, source) }
    }
  }

  private struct State {
    var source: (any HTTPBodySource)?
    var buffered = Data()
    /// Whether ``next()`` has returned `buffered`, so that it returns `nil` next. Afterwards, it starts again. Iterators
    /// and ``collect(upTo:)`` don't share this position.
    var isAtEnd = false
    /// Whether a chunk has been read from the source.
    var hasBegun = false
    /// The trailers, available after the source is released.
    var trailers = HTTPHeaders()
    /// The timings, available after the source is released.
    var timings: TransferTimings?
    var ending: Ending?
    /// Whether a reader left the loop before the end.
    var isReleased = false
    /// The actions to run at the end. `nil` after they have run.
    var onEnd: EndActions? = EndActions()
    /// The error to throw instead of `CancellationError`.
    var cause: (any Error)?
    var explain: (@Sendable (any Error) -> any Error)?
    var onChunk: (@Sendable (Int) -> Void)?

    /// Removes and returns the actions to run. Returns `nil` if none are left. Once it has returned `nil`, no more
    /// actions are stored.
    mutating func takeActions() -> (EndActions, (any HTTPBodySource)?)? {
      guard let actions = onEnd, !actions.isEmpty else {
        onEnd = nil
        return nil
      }
      onEnd = EndActions()
      return (actions, source)
    }
  }

  private let state: Lock<State>

  /// Creates a body that reads from `source`.
  public init(_ source: any HTTPBodySource) { state = Lock(State(source: source)) }

  /// Creates a body from data. Defaults to an empty body.
  public init(_ data: Data = Data()) { state = Lock(State(buffered: data)) }

  package init(_ data: Data, trailers: HTTPHeaders, timings: TransferTimings? = nil) {
    state = Lock(State(buffered: data, trailers: trailers, timings: timings))
  }

  deinit { cancel() }

  /// Returns the next chunk, or `nil` at the end.
  ///
  /// Throws the transfer's error, or `CancellationError` if the call or the current task is cancelled. If a loop over
  /// the body was left early, throws ``HTTPBodyConsumedError`` or, if a call streams the body, a `TaskError` with code
  /// `.bodyConsumed`.
  public func next() async throws -> Data? {
    do {
      let chunk: Data?
      if let source = try readable() { chunk = try await source.next() } else { chunk = try nextBuffered() }
      if let chunk { count(chunk) } else { end(.complete) }
      return chunk
    } catch {
      throw failed(error)
    }
  }

  /// Reads the rest of the body. Returns all of a body in memory.
  ///
  /// Throws ``HTTPBodyLimitError`` if the rest is longer than `limit` bytes, or any error that ``next()`` throws.
  public func collect(upTo limit: Int = .max) async throws -> Data {
    do {
      let data: Data
      if let source = try readable() {
        data = try await source.collect(upTo: limit)
      } else {
        data = try buffered()
      }
      count(data)
      if data.count > limit { throw HTTPBodyLimitError(limit: limit) }
      end(.complete)
      return data
    } catch {
      source?.cancel()
      throw failed(error)
    }
  }

  /// Reads the rest of the body into memory, so it can be read again, and releases the source.
  package func gather(upTo limit: Int = .max) async throws -> Data {
    let data = try await collect(upTo: limit)
    let source = source
    let (trailers, timings) = (source?.trailers, source?.timings)
    // The local reference keeps the source from being released while the lock is held.
    state.withLock { state in
      state.source = nil
      (state.buffered, state.isAtEnd) = (data, false)
      if let trailers { state.trailers = trailers }
      if let timings { state.timings = timings }
    }
    return data
  }

  /// Ends the transfer if it is still running.
  public func cancel() {
    source?.cancel()
    end(.dropped)
  }

  /// Ends the transfer. The reader receives `error`.
  package func fail(_ error: any Error) {
    state.withLock { state in
      state.cause = state.cause ?? error
      // All bytes arrived but could not be processed. Later reads must not return the rest as if it were the body.
      if case .complete? = state.ending { state.ending = .failed(error) }
    }
    source?.cancel()
    end(.failed(error))
  }

  /// Returns the source to read. Throws again if the body has failed, so that the rest is not mistaken for the entire body.
  private func readable() throws -> (any HTTPBodySource)? {
    try state.withLock { state in
      if let error = state.ending?.error { throw error }
      return state.source
    }
  }

  /// Whether all bytes are still there: the body is in memory, or nothing has been read from its source.
  var isWhole: Bool { state.withLock { $0.source == nil || !$0.hasBegun } }

  /// Whether the body has been read to its end.
  var isComplete: Bool { if case .complete? = state.withLock({ $0.ending }) { true } else { false } }

  private func failed(_ error: any Error) -> any Error {
    let (cause, explain, isReleased) = state.withLock { ($0.cause, $0.explain, $0.isReleased) }
    var error = cause ?? error
    if isReleased, cause == nil, error is CancellationError, !Task.isCancelled {
      error = HTTPBodyConsumedError()
    }
    end(.failed(error))
    return explain?(error) ?? error  // after `end`, because the explanation can include how the call ended
  }

  /// Ends the transfer because the reader left the loop. A body in memory can be read again.
  private func release() {
    state.withLock { if $0.source != nil, $0.ending == nil { $0.isReleased = true } }
    cancel()
  }

  package var source: (any HTTPBodySource)? { state.withLock { $0.source } }

  package var failure: (any Error)? { state.withLock { state in state.ending?.error.map { state.cause ?? $0 } } }

  package var isInMemory: Bool { source == nil }

  /// The trailer fields. Empty until the end of the body.
  public var trailers: HTTPHeaders {
    let (source, kept) = state.withLock { ($0.source, $0.trailers) }
    return source?.trailers ?? kept
  }

  /// The timings of the transfer. `nil` until the end of the body, and for a body that wasn't transferred.
  public var timings: TransferTimings? {
    let (source, kept) = state.withLock { ($0.source, $0.timings) }
    return source?.timings ?? kept
  }

  /// Calls `action` once when the body ends or is released, after all actions added earlier. If they have already run,
  /// calls `action` immediately.
  package func onEnd(_ action: @escaping EndAction) {
    let (past, source) = state.withLock { state -> (Ending?, (any HTTPBodySource)?) in
      guard state.onEnd == nil else {
        state.onEnd?.add(action)
        return (nil, nil)
      }
      return (state.ending, state.source)
    }
    if let past { action(past, source) }
  }

  /// Transforms errors with `explain` before readers receive them.
  package func explainFailures(_ explain: @escaping @Sendable (any Error) -> any Error) {
    state.withLock { $0.explain = explain }
  }

  /// Returns an error about the body's content, with information about the call added.
  package func explained(_ error: any Error) -> any Error { state.withLock { $0.explain }?(error) ?? error }

  package func onChunk(_ action: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onChunk = action } }

  private func count(_ chunk: Data) {
    let onChunk = state.withLock { state in
      state.hasBegun = true
      return state.onChunk
    }
    onChunk?(chunk.count)
  }

  private func end(_ ending: Ending) {
    var next = state.withLock { state -> (EndActions, (any HTTPBodySource)?)? in
      guard state.ending == nil else { return nil }
      state.ending = ending
      return state.takeActions()
    }
    // Actions added during this loop run last, because a call must not end before its attempt.
    while let (actions, source) = next {
      actions.run(ending, source)
      next = state.withLock { $0.takeActions() }
    }
  }

  private func nextBuffered() throws -> Data? {
    let data = try buffered()
    return state.withLock { state in
      state.isAtEnd = !state.isAtEnd && !data.isEmpty
      return state.isAtEnd ? data : nil
    }
  }

  private func buffered() throws -> Data {
    try state.withLock { state in
      if let cause = state.cause { throw cause }
      return state.buffered
    }
  }

  /// An iterator over a body. If the iterator is released before the end, it ends the transfer.
  public final class AsyncIterator: AsyncIteratorProtocol {
    private let body: HTTPResponseBody
    private var hasBegun = false
    private var isAtEnd = false

    init(_ body: HTTPResponseBody) { self.body = body }

    deinit { body.release() }

    /// Returns the next chunk, or `nil` at the end.
    public func next() async throws -> Data? {
      if isAtEnd { return nil }
      let chunk = body.isInMemory ? try chunkInMemory() : try await body.next()
      isAtEnd = chunk == nil
      return chunk
    }

    private func chunkInMemory() throws -> Data? {
      let data = try body.buffered()
      defer { hasBegun = true }
      if !hasBegun, !data.isEmpty { return data }
      body.end(.complete)
      return nil
    }
  }

  /// Creates an iterator. A streamed body can only be read once.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
