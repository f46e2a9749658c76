#if os(Linux)
  import ErrandFoundation

  /// The part of a body that libcurl has not taken: pure bookkeeping between the reader of the body, and the loop, which
  /// sends it.
  struct TransferOutbox {
    static let highWater = 256 << 10

    /// The loop's next step.
    enum Writing: Equatable {
      /// So many bytes were put into its buffer.
      case send(Int)
      /// There is nothing yet: pause.
      case pause
      /// All was sent.
      case end
      /// The body failed: give the transfer up.
      case abort
    }

    let statedLength: Int64?
    private var pieces: [Data] = []
    /// The first piece of which there is something left, and how much of it was taken.
    private var first = 0
    private var offset = 0
    private var buffered = 0
    private var received: Int64 = 0
    private var isFinished = false
    private(set) var failure: (any Error)?
    private var isPaused = false

    init(statedLength: Int64?) { self.statedLength = statedLength }

    /// The whole body, where it is in memory.
    private var whole: Data?

    /// A body that is there as a whole.
    init(_ data: Data) {
      whole = data
      statedLength = Int64(data.count)
      pieces = data.isEmpty ? [] : [data]
      buffered = data.count
      received = Int64(data.count)
      isFinished = true
    }

    /// True where all of the body was taken, also where its source has yet to say that there is no more than was stated.
    var isDrained: Bool { (isFinished || received == statedLength) && buffered == 0 && failure == nil }

    /// True where none of the body was taken.
    var isUntouched: Bool { received - Int64(buffered) == 0 }

    /// True where the next piece should wait until some of the others are sent.
    var isFull: Bool { buffered >= Self.highWater }

    /// Adds a piece; true when the loop has paused and is to go on.
    mutating func put(_ piece: Data) -> Bool {
      guard !piece.isEmpty else { return false }
      received += Int64(piece.count)
      if let statedLength, received > statedLength { return fail(mismatch("at least \(received)")) }
      pieces.append(piece)
      buffered += piece.count
      return resumes()
    }

    /// There is no more; true when the loop has paused and is to go on.
    mutating func finish() -> Bool {
      if let statedLength, received != statedLength { return fail(mismatch("\(received)")) }
      isFinished = true
      return resumes()
    }

    /// The body failed; true when the loop has paused and is to go on.
    mutating func fail(_ error: any Error) -> Bool {
      failure = failure ?? error
      return resumes()
    }

    /// Fills the loop's buffer, from as many pieces as it takes.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Writing {
      if failure != nil { return .abort }
      var filled = 0
      while filled < buffer.count, first < pieces.count {
        let piece = pieces[first]
        let count = min(buffer.count - filled, piece.count - offset)
        let start = piece.startIndex + offset
        piece.copyBytes(
          to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), from: start..<(start + count))
        filled += count
        offset += count
        if offset == piece.count { passPiece() }
      }
      buffered -= filled
      if filled > 0 { return .send(filled) }
      if isFinished { return .end }
      isPaused = true
      return .pause
    }

    /// Goes on to the next piece. The places of those that were taken are freed once they are the most, all at once.
    private mutating func passPiece() {
      pieces[first] = Data()
      first += 1
      offset = 0
      guard first == pieces.count || (first >= 1024 && first * 2 > pieces.count) else { return }
      pieces.removeFirst(first)
      first = 0
    }

    /// Starts from the beginning again, with a request that has not paused; false where that is gone.
    mutating func rewind() -> Bool {
      guard let whole else {
        guard received == 0, !isFinished else { return false }
        isPaused = false
        return true
      }
      pieces = whole.isEmpty ? [] : [whole]
      buffered = whole.count
      (first, offset) = (0, 0)
      return true
    }

    /// Forgets all that was put into it: its source begins again, and so does the request.
    mutating func restart() { self = TransferOutbox(statedLength: statedLength) }

    private mutating func resumes() -> Bool {
      defer { isPaused = false }
      return isPaused
    }

    private func mismatch(_ actual: String) -> TaskError {
      TaskError(
        .bodyLengthMismatch,
        "the body was stated to have \(statedLength ?? 0) bytes, but its file or stream has \(actual)", phase: .sending)
    }
  }
#endif
