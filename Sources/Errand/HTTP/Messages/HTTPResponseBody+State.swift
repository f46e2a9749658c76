import ErrandFoundation

extension HTTPResponseBody {
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
  struct EndActions {
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

  enum Content {
    case memory(Data)
    case file(any FileBody)
    case stream(any HTTPBodySource)
  }

  /// The content, its reader and its end. The lock of a body guards it.
  struct State {
    var content: Content
    /// The last reader of a body in a file, while it is reading.
    weak var reader: (any HTTPBodySource)?
    /// The position of ``next()``. In a body that can be read again, it starts again after the end. Iterators have their
    /// own positions.
    var position = Position.start
    /// Whether the stream has a reader, which may still be waiting for the first chunk.
    var isClaimed = false
    /// Whether a chunk has been read from the stream.
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

    var stream: (any HTTPBodySource)? { if case .stream(let source) = content { source } else { nil } }

    /// Throws if the body must not be read any more. A body that can be read again ignores that a reader left early.
    func check() throws {
      if let cause { throw cause }
      switch ending {
      case .failed(let error): throw error
      case .dropped where stream != nil: throw CancellationError()
      case .dropped, .complete, nil: break
      }
    }

    /// Whether a new reader would get all bytes. A stream that ended without a chunk can be read again.
    var isWhole: Bool {
      if case .complete? = ending, !hasBegun { return true }
      return !isClaimed
    }

    /// Claims the stream for one reader. A body that can be read again is not claimed.
    mutating func claim() throws {
      guard stream != nil else { return }
      guard isWhole else { throw AlreadyClaimed() }
      isClaimed = true
    }

    /// Removes and returns the actions to run. Returns `nil` if none are left. Once it has returned `nil`, no more
    /// actions are stored.
    mutating func takeActions() -> (EndActions, (any HTTPBodySource)?)? {
      guard let actions = onEnd, !actions.isEmpty else {
        onEnd = nil
        return nil
      }
      onEnd = EndActions()
      return (actions, stream)
    }
  }

  /// The stream has another reader, which continues.
  struct AlreadyClaimed: Error {}

  /// A reader's position in a body.
  enum Position {
    case start
    case reading(any HTTPBodySource)
    /// All bytes have been returned, but not the end.
    case last
    case end
  }
}
