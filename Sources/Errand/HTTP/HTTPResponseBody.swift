public import ErrandFoundation

/// The body of a response: chunks as they come, read once.
///
///     for try await chunk in response.body { … }
///
/// Nothing is read ahead of the reader beyond a fixed window, so a slow reader makes the sender wait. Leaving the loop
/// early, or releasing the last reference, ends the transfer and frees its connection.
public final class HTTPResponseBody: AsyncSequence, Sendable {
  /// A chunk, never empty.
  public typealias Element = Data

  /// The way in which a body ended.
  package enum Ending: Sendable {
    /// It was read to its last byte.
    case complete
    /// Reading it failed.
    case failed(any Error)
    /// The rest was not wanted.
    case dropped

    /// The error, if reading failed.
    var error: (any Error)? {
      if case .failed(let error) = self { error } else { nil }
    }
  }

  /// An action for the end of a body: it gets the ending and the body's source.
  package typealias EndAction = @Sendable (_ ending: Ending, _ source: (any HTTPBodySource)?) -> Void

  /// The actions for the end of a body: mostly one, which is kept without an array.
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
    /// The source of the bytes; nil where they are in memory.
    var source: (any HTTPBodySource)?
    /// The bytes in memory that were not read.
    var buffered = Data()
    /// The fields after the body, once its source was released.
    var trailers = HTTPHeaders()
    /// The timings of its transfer, once its source was released.
    var timings: TransferTimings?
    var ending: Ending?
    /// True where a reader left before the end.
    var isReleased = false
    /// Nil once all have run.
    var onEnd: EndActions? = EndActions()
    /// The error that a reader gets in place of a cancellation.
    var cause: (any Error)?
    /// Turns an error into the one that the reader gets.
    var explain: (@Sendable (any Error) -> any Error)?
    /// Gets the number of bytes read, chunk by chunk.
    var onChunk: (@Sendable (Int) -> Void)?

    /// The actions to run; nil where there is none, and none will be kept.
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

  /// A body that comes from `source`.
  public init(_ source: any HTTPBodySource) { state = Lock(State(source: source)) }

  /// A body that is there already; empty unless given.
  public init(_ data: Data = Data()) { state = Lock(State(buffered: data)) }

  /// A body that is there already, with the fields after it and the timings of its transfer.
  package init(_ data: Data, trailers: HTTPHeaders, timings: TransferTimings? = nil) {
    state = Lock(State(buffered: data, trailers: trailers, timings: timings))
  }

  deinit { cancel() }

  /// The next chunk; nil at the end.
  /// Throws the error of the transfer, ``HTTPBodyConsumedError`` after a loop that was left, which of a stream is a `TaskError` with code
  /// `.bodyConsumed`, and `CancellationError` when the call or the surrounding task is cancelled.
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

  /// All that is left of the body, which can be read again afterwards. The source is released.
  /// Throws what ``collect(upTo:)`` throws.
  package func gather(upTo limit: Int = .max) async throws -> Data {
    let data = try await collect(upTo: limit)
    let source = source
    let (trailers, timings) = (source?.trailers, source?.timings)
    // The local reference keeps the source, which must not be released under the lock.
    state.withLock { state in
      state.source = nil
      state.buffered = data
      if let trailers { state.trailers = trailers }
      if let timings { state.timings = timings }
    }
    return data
  }

  /// Ends the transfer, if it has not ended by itself.
  public func cancel() {
    source?.cancel()
    end(.dropped)
  }

  /// Ends the transfer; the reader gets `error`.
  package func fail(_ error: any Error) {
    state.withLock { $0.cause = $0.cause ?? error }
    source?.cancel()
    end(.failed(error))
  }

  /// Notes that reading failed; returns the error for the reader.
  private func failed(_ error: any Error) -> any Error {
    let (cause, explain, isReleased) = state.withLock { ($0.cause, $0.explain, $0.isReleased) }
    var error = cause ?? error
    if isReleased, cause == nil, error is CancellationError, !Task.isCancelled {
      error = HTTPBodyConsumedError()
    }
    end(.failed(error))
    return explain?(error) ?? error  // with the end noted: it may be part of the explanation
  }

  /// Ends the transfer for a reader that leaves, if it has not ended by itself.
  private func release() {
    state.withLock { if $0.ending == nil { $0.isReleased = true } }
    cancel()
  }

  /// The source of the bytes; `nil` if they are in memory.
  package var source: (any HTTPBodySource)? { state.withLock { $0.source } }

  /// The error that reading has ended with.
  package var failure: (any Error)? { state.withLock { state in state.ending?.error.map { state.cause ?? $0 } } }

  /// True where the bytes are in memory.
  package var isInMemory: Bool { source == nil }

  /// The fields after the body; empty until its end.
  public var trailers: HTTPHeaders {
    let (source, kept) = state.withLock { ($0.source, $0.trailers) }
    return source?.trailers ?? kept
  }

  /// The timings of the transfer; `nil` until its end, and for a body that came by no transfer.
  public var timings: TransferTimings? {
    let (source, kept) = state.withLock { ($0.source, $0.timings) }
    return source?.timings ?? kept
  }

  /// Calls `action` once, when the body has ended or was released, after the actions that were given before; at once where
  /// all of these have run.
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

  /// Passes errors through `explain` before readers get them.
  package func explainFailures(_ explain: @escaping @Sendable (any Error) -> any Error) {
    state.withLock { $0.explain = explain }
  }

  /// An error in what the body says, as its reader gets it: with the call that the body came by.
  package func explained(_ error: any Error) -> any Error { state.withLock { $0.explain }?(error) ?? error }

  /// Calls `action` with the number of bytes read, chunk by chunk.
  package func onChunk(_ action: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onChunk = action } }

  private func count(_ chunk: Data) { state.withLock { $0.onChunk }?(chunk.count) }

  private func end(_ ending: Ending) {
    var next = state.withLock { state -> (EndActions, (any HTTPBodySource)?)? in
      guard state.ending == nil else { return nil }
      state.ending = ending
      return state.takeActions()
    }
    // An action that is added meanwhile runs after these: a call must not end before its attempt.
    while let (actions, source) = next {
      actions.run(ending, source)
      next = state.withLock { $0.takeActions() }
    }
  }

  private func takeBuffered() throws -> Data? {
    try state.withLock { state in
      if let cause = state.cause { throw cause }
      if state.isReleased { throw HTTPBodyConsumedError() }
      defer { state.buffered = Data() }
      return state.buffered.isEmpty ? nil : state.buffered
    }
  }

  /// Reads a body; ends the transfer when it is released before the end.
  public final class AsyncIterator: AsyncIteratorProtocol {
    private let body: HTTPResponseBody

    init(_ body: HTTPResponseBody) { self.body = body }

    deinit { body.release() }

    /// The next chunk; nil at the end.
    public func next() async throws -> Data? { try await body.next() }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
