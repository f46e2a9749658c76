public import ErrandFoundation

/// The body of a response: an asynchronous sequence of chunks.
///
///     for try await chunk in response.body { … }
///
/// A body in memory or in a file can be read again, so a step can read it before the call does. A streamed body has one
/// reader: another reader gets an error, even if the first is still waiting for the first chunk.
///
/// Only a fixed window is read ahead, so a slow reader slows the sender down. Leaving the loop early or releasing the
/// last reference ends the transfer and frees its connection.
public final class HTTPResponseBody: AsyncSequence, Sendable {
  /// A chunk. Never empty.
  public typealias Element = Data

  private let state: Lock<State>

  /// Creates a body that reads from `source`.
  public init(_ source: any HTTPBodySource) { state = Lock(State(content: .stream(source))) }

  /// Creates a body from data. Defaults to an empty body.
  public init(_ data: Data = Data()) { state = Lock(State(content: .memory(data))) }

  package init(_ data: Data, trailers: HTTPHeaders, timings: TransferTimings? = nil) {
    state = Lock(State(content: .memory(data), trailers: trailers, timings: timings))
  }

  init(_ file: any FileBody, trailers: HTTPHeaders = [:], timings: TransferTimings? = nil) {
    state = Lock(State(content: .file(file), trailers: trailers, timings: timings))
  }

  deinit { cancel() }

  /// Returns the next chunk, or `nil` at the end.
  ///
  /// Throws the transfer's error, or `CancellationError` if the call or the current task is cancelled. If a loop over
  /// the body was left early, throws ``HTTPBodyConsumedError`` or, if a call streams the body, a `TaskError` with code
  /// `.bodyConsumed`.
  public func next() async throws -> Data? {
    let (chunk, position) = try await chunk(at: state.withLock { $0.position })
    state.withLock { state in
      if case .end = position, state.stream == nil { state.position = .start } else { state.position = position }
    }
    return chunk
  }

  /// Returns the chunk at a reader's position, and the next position. Only this function and ``collect(upTo:)`` read.
  private func chunk(at position: Position) async throws -> (Data?, Position) {
    do {
      let source: any HTTPBodySource
      switch (position, try content(at: position)) {
      case (.end, _): return (nil, .end)
      case (.reading(let reader), _): source = reader
      case (.start, .memory(let data)) where !data.isEmpty:
        try count(data)
        return (data, .last)
      case (.start, .file(let file)): source = try reader(of: file)
      case (.start, .stream(let stream)): source = stream
      case (.start, .memory), (.last, _):
        end(.complete)
        return (nil, .end)
      }
      let chunk = try await source.next()
      try count(chunk ?? Data())
      guard chunk == nil else { return (chunk, .reading(source)) }
      try complete()
      return (nil, .end)
    } catch is AlreadyClaimed {
      throw explained(HTTPBodyConsumedError())
    } catch {
      throw failed(error)
    }
  }

  /// Reads the rest of a streamed body, or all of a body in memory or in a file.
  ///
  /// Throws ``HTTPBodyLimitError`` if the rest is longer than `limit` bytes, or any error that ``next()`` throws.
  public func collect(upTo limit: Int = .max) async throws -> Data {
    do {
      let data =
        switch try content(at: nil) {
        case .memory(let data): data
        case .file(let file): try await reader(of: file).collect(upTo: limit)
        case .stream(let source): try await source.collect(upTo: limit)
        }
      try count(data)
      if data.count > limit { throw HTTPBodyLimitError(limit: limit) }
      try complete()
      return data
    } catch is AlreadyClaimed {
      throw explained(HTTPBodyConsumedError())
    } catch let error as HTTPBodyLimitError where source == nil {
      throw explained(error)  // the body can be read again
    } catch {
      source?.cancel()
      throw failed(error)
    }
  }

  /// Reads the entire body into memory, so it can be read again, and releases the source. Throws
  /// ``HTTPBodyConsumedError`` if part of a streamed body has been read.
  package func gather(upTo limit: Int = .max) async throws -> Data {
    try checkWhole()
    let data = try await collect(upTo: limit)
    // The local reference keeps the source from being released while the lock is held.
    let source = source
    let (trailers, timings) = (source?.trailers, source?.timings)
    state.withLock { state in
      (state.content, state.position) = (.memory(data), .start)
      state.explain = nil  // nothing can fail any more, and the closure retains the call
      if let trailers { state.trailers = trailers }
      if let timings { state.timings = timings }
    }
    return data
  }

  /// Returns a reader of the entire body. Throws ``HTTPBodyConsumedError`` if part of a streamed body has been read.
  package func fromStart() throws -> AsyncIterator {
    try checkWhole()
    return makeAsyncIterator()
  }

  /// Returns another body with the same content, for another call. Returns this one if its content can only be read
  /// once.
  func reopened() -> HTTPResponseBody {
    let (content, trailers, timings) = state.withLock { ($0.content, $0.trailers, $0.timings) }
    return switch content {
    case .memory(let data): HTTPResponseBody(data, trailers: trailers, timings: timings)
    case .file(let file): HTTPResponseBody(file, trailers: trailers, timings: timings)
    case .stream: self
    }
  }

  /// Ends the transfer if it is still running. A body in memory or in a file can be read again.
  public func cancel() { stop(.dropped) }

  /// Ends the transfer and removes the temporary file of a download. A body in memory can be read again.
  func close() {
    cancel()
    file?.close()
  }

  /// Ends the transfer. The reader receives `error`.
  package func fail(_ error: any Error) {
    state.withLock { state in
      state.cause = state.cause ?? error
      // The body may have ended before it was processed. Later reads must not return it as if it were complete.
      switch state.ending {
      case .complete, .dropped: state.ending = .failed(error)
      case .failed, nil: break
      }
    }
    stop(.failed(error))
  }

  /// Returns the content, and claims a stream for a reader that has read nothing. `position` is `nil` for a reader that
  /// continues after ``next()``.
  private func content(at position: Position?) throws -> Content {
    try state.withLock { state in
      try state.check()
      if case .start = position ?? state.position { try state.claim() }
      return state.content
    }
  }

  private func reader(of file: any FileBody) throws -> any HTTPBodySource {
    let reader = try file.reader()
    try state.withLock { state in
      try state.check()
      state.reader = reader
    }
    return reader
  }

  /// Whether all bytes are still there: the body can be read again, or its stream has no reader.
  var isWhole: Bool { state.withLock { $0.stream == nil || $0.isWhole } }

  /// Throws ``HTTPBodyConsumedError`` if a streamed body has a reader.
  func checkWhole() throws { if !isWhole { throw HTTPBodyConsumedError() } }

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

  /// Ends the transfer because the reader left the loop. A body in memory or in a file can be read again.
  private func release(_ position: Position) {
    let isReader = state.withLock { state in
      if case .start = position, state.isClaimed { return false }  // another reader continues
      if state.stream != nil, state.ending == nil { state.isReleased = true }
      return true
    }
    if isReader { cancel() }
  }

  /// The source of a streamed body.
  package var source: (any HTTPBodySource)? { state.withLock { $0.stream } }

  /// The file of a body that was read into one.
  var file: (any FileBody)? { state.withLock { if case .file(let file) = $0.content { file } else { nil } } }

  package var failure: (any Error)? { state.withLock { state in state.ending?.error.map { state.cause ?? $0 } } }

  package var isInMemory: Bool { state.withLock { if case .memory = $0.content { true } else { false } } }

  /// The trailer fields. Empty until the end of the body.
  public var trailers: HTTPHeaders {
    let (source, kept) = state.withLock { ($0.stream, $0.trailers) }
    return source?.trailers ?? kept
  }

  /// The timings of the transfer. `nil` until the end of the body, and for a body that wasn't transferred.
  public var timings: TransferTimings? {
    let (source, kept) = state.withLock { ($0.stream, $0.timings) }
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
      return (state.ending, state.stream)
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

  /// Counts bytes that a reader gets. Throws if the body has ended in the meantime.
  private func count(_ chunk: Data) throws {
    if chunk.isEmpty { return try state.withLock { try $0.check() } }
    let onChunk = try state.withLock { state in
      try state.check()
      state.hasBegun = true
      return state.ending == nil ? state.onChunk : nil  // the body may be read again
    }
    onChunk?(chunk.count)
  }

  /// Ends the body at the end of its source. Throws if the body was streamed and its task is cancelled, because
  /// `AsyncThrowingStream` then returns `nil` before its end.
  private func complete() throws {
    if source != nil { try Task.checkCancellation() }
    end(.complete)
  }

  /// Ends the body before its source, so that a source can't pass its cancellation off as the end of the body.
  private func stop(_ ending: Ending) { end(ending) { $0?.cancel() } }

  /// Other readers of a file continue after a reader has left, but not after a failure.
  private func end(_ ending: Ending, _ stop: ((any HTTPBodySource)?) -> Void = { _ in }) {
    let (source, actions) = state.withLock { state -> ((any HTTPBodySource)?, (EndActions, (any HTTPBodySource)?)?) in
      let source = state.stream ?? (ending.error == nil ? nil : state.reader)
      guard state.ending == nil else { return (source, nil) }
      state.ending = ending
      return (source, state.takeActions())
    }
    stop(source)
    var next = actions
    // Actions added during this loop run last, because a call must not end before its attempt.
    while let (actions, source) = next {
      actions.run(ending, source)
      next = state.withLock { $0.takeActions() }
    }
  }

  /// An iterator over a body. If the iterator is released before the end, it ends the transfer.
  public final class AsyncIterator: AsyncIteratorProtocol, Sendable {
    private let body: HTTPResponseBody
    private let position = Lock(Position.start)

    init(_ body: HTTPResponseBody) { self.body = body }

    deinit { body.release(position.withLock { $0 }) }

    /// Returns the next chunk, or `nil` at the end.
    public func next() async throws -> Data? {
      let present = position.withLock { $0 }
      if case .end = present { return nil }
      let (chunk, next) = try await body.chunk(at: present)
      position.withLock { $0 = next }
      return chunk
    }
  }

  /// Creates an iterator. A streamed body has one reader.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
