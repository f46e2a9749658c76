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
  }

  private enum State {
    case open(onEnd: [@Sendable (Ending) -> Void])
    case ended(Ending)
  }

  private let source: any HTTPBodySource
  private let state = Lock(State.open(onEnd: []))
  private let cause: Lock<(any Error)?> = Lock(nil)

  /// A body that comes from `source`.
  public init(_ source: any HTTPBodySource) { self.source = source }

  /// A body that is there already; empty unless given.
  public convenience init(_ data: Data = Data()) { self.init(BytesSource(data)) }

  deinit { cancel() }

  /// The next chunk; nil at the end.
  /// Throws what went wrong with the transfer, and `CancellationError` when the surrounding task is cancelled.
  public func next() async throws -> Data? {
    do {
      if let chunk = try await source.next() { return chunk }
      end(.complete)
      return nil
    } catch {
      let error = cause.withLock { $0 } ?? error
      end(.failed(error))
      throw error
    }
  }

  /// All that is left of the body.
  /// Throws ``HTTPBodyLimitError`` past `limit` bytes, and whatever ``next()`` throws.
  public func collect(upTo limit: Int = .max) async throws -> Data {
    do {
      let data = try await source.collect(upTo: limit)
      end(.complete)
      return data
    } catch {
      source.cancel()
      end(.failed(error))
      throw error
    }
  }

  /// Ends the transfer, if it has not ended by itself.
  public func cancel() {
    source.cancel()
    end(.dropped)
  }

  /// Ends the transfer and has whoever reads see `error`.
  package func fail(_ error: any Error) {
    cause.withLock { $0 = $0 ?? error }
    source.cancel()
    end(.failed(error))
  }

  /// The fields after the body; empty until its end.
  public var trailers: HTTPHeaders { source.trailers }

  /// What the transfer took; nil until its end.
  public var timings: TransferTimings? { source.timings }

  /// Has `action` called once when the body has ended or was let go; at once if that is so already.
  package func onEnd(_ action: @escaping @Sendable (Ending) -> Void) {
    let past = state.withLock { state -> Ending? in
      switch state {
      case .ended(let ending): return ending
      case .open(let actions):
        state = .open(onEnd: actions + [action])
        return nil
      }
    }
    if let past { action(past) }
  }

  private func end(_ ending: Ending) {
    let actions = state.withLock { state -> [@Sendable (Ending) -> Void] in
      guard case .open(let actions) = state else { return [] }
      state = .ended(ending)
      return actions
    }
    for action in actions { action(ending) }
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

/// A body that is in memory.
private final class BytesSource: HTTPBodySource {
  private let rest: Lock<Data>

  init(_ data: Data) { rest = Lock(data) }

  func next() async throws -> Data? {
    rest.withLock { rest in
      defer { rest = Data() }
      return rest.isEmpty ? nil : rest
    }
  }
}
