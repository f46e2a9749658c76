#if os(Linux)
  import ErrandFoundation

  /// The part of a request body that libcurl has not read yet.
  struct TransferOutbox {
    static let highWater = 256 << 10

    enum Writing: Equatable {
      case send(Int)
      case pause
      case end
      case abort
    }

    let statedLength: Int64?
    private var pieces: [Data] = []
    /// The index of the first chunk that has not been fully read, and the number of bytes read from it.
    private var first = 0
    private var offset = 0
    private var buffered = 0
    private var received: Int64 = 0
    private var isFinished = false
    private(set) var failure: (any Error)?
    private var isPaused = false

    init(statedLength: Int64?) { self.statedLength = statedLength }

    private var whole: Data?

    init(_ data: Data) {
      whole = data
      statedLength = Int64(data.count)
      pieces = data.isEmpty ? [] : [data]
      buffered = data.count
      received = Int64(data.count)
      isFinished = true
    }

    /// Whether the entire body has been read. The source may not have reported the end yet.
    var isDrained: Bool { (isFinished || received == statedLength) && buffered == 0 && failure == nil }

    var isUntouched: Bool { received - Int64(buffered) == 0 }

    var isFull: Bool { buffered >= Self.highWater }

    /// Adds a chunk. Returns whether the transfer was paused and should resume.
    mutating func put(_ piece: Data) -> Bool {
      guard !piece.isEmpty else { return false }
      received += Int64(piece.count)
      if let statedLength, received > statedLength { return fail(mismatch("at least \(received)")) }
      pieces.append(piece)
      buffered += piece.count
      return resumes()
    }

    mutating func finish() -> Bool {
      if let statedLength, received != statedLength { return fail(mismatch("\(received)")) }
      isFinished = true
      return resumes()
    }

    mutating func fail(_ error: any Error) -> Bool {
      failure = failure ?? error
      return resumes()
    }

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

    /// Moves to the next chunk. Chunks that have been read are removed in batches, once they are the majority.
    private mutating func passPiece() {
      pieces[first] = Data()
      first += 1
      offset = 0
      guard first == pieces.count || (first >= 1024 && first * 2 > pieces.count) else { return }
      pieces.removeFirst(first)
      first = 0
    }

    /// Goes back to the beginning of the body. Returns `false` if the beginning is no longer in memory.
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

    mutating func restart() { self = TransferOutbox(statedLength: statedLength) }

    private mutating func resumes() -> Bool {
      defer { isPaused = false }
      return isPaused
    }

    private func mismatch(_ actual: String) -> TaskError {
      TaskError(
        .bodyLengthMismatch,
        "the declared length of the body is \(statedLength ?? 0) bytes, but its file or stream has \(actual)",
        phase: .sending)
    }
  }
#endif
