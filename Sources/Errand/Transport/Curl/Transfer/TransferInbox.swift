#if os(Linux)
  import ErrandFoundation

  /// The received and unread part of a response: pure bookkeeping between the loop, which fills it, and the one
  /// reader, who empties it.
  ///
  /// It holds at most ``highWater`` bytes and one piece more: past that the connection is paused, and goes on once the
  /// reader is down to ``lowWater``. That is what bounds the memory of a stream.
  struct TransferInbox {
    static let highWater = 512 << 10
    static let lowWater = 128 << 10
    private static let pieceSize = 128 << 10
    /// The most that libcurl writes at once.
    private static let worthwhile = 16 << 10

    /// The reader's next step.
    enum Reading<Value> {
      case take(Value)
      case wait
      case fail(any Error)
    }

    private(set) var head: [UInt8]?
    private var pieces: [Data] = []
    private var firstPiece = 0
    private var buffered = 0
    private var isPaused = false
    private(set) var outcome: Result<TransferTimings, any Error>?
    private(set) var trailers: [UInt8] = []

    // MARK: The loop's side

    mutating func receive(head: [UInt8]) { self.head = head }

    /// A piece of the body came; false when it must wait, and be handed in again.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard buffered < Self.highWater else {
        isPaused = true
        return false
      }
      buffered += bytes.count
      if let last = pieces.indices.last, last >= firstPiece, pieces[last].count + bytes.count <= Self.pieceSize,
        bytes.count >= Self.worthwhile || pieces[last].count < Self.worthwhile
      {
        pieces[last].append(contentsOf: bytes)
      } else if bytes.count >= Self.worthwhile {
        // A full write is followed by others: they cost one allocation.
        var piece = Data(capacity: Self.pieceSize)
        piece.append(contentsOf: bytes)
        pieces.append(piece)
      } else {
        pieces.append(Data(bytes))
      }
      return true
    }

    mutating func receive(trailer: UnsafeRawBufferPointer) { trailers.append(contentsOf: trailer) }

    /// The transfer is over. The first word counts.
    mutating func finish(_ outcome: Result<TransferTimings, any Error>) {
      if self.outcome == nil { self.outcome = outcome }
    }

    /// The transfer was given up: what is buffered is not wanted any more.
    mutating func abandon(_ error: any Error) {
      pieces = []
      firstPiece = 0
      buffered = 0
      outcome = .failure(error)
    }

    /// True once the transfer has ended as it should.
    var isWhole: Bool {
      if case .success = outcome { true } else { false }
    }

    // MARK: The reader's side

    func readHead() -> Reading<[UInt8]> {
      if let head { return .take(head) }
      if case .failure(let error) = outcome { return .fail(error) }
      return .wait
    }

    /// The next piece, nil at the end; `resumes` says that the connection was paused and is to go on.
    mutating func read() -> (step: Reading<Data?>, resumes: Bool) {
      if firstPiece < pieces.count {
        let piece = pieces[firstPiece]
        pieces[firstPiece] = Data()
        firstPiece += 1
        if firstPiece == pieces.count {
          pieces.removeAll(keepingCapacity: true)
          firstPiece = 0
        }
        buffered -= piece.count
        let resumes = isPaused && buffered <= Self.lowWater
        if resumes { isPaused = false }
        return (.take(piece), resumes)
      }
      switch outcome {
      case .success: return (.take(nil), false)
      case .failure(let error): return (.fail(error), false)
      case nil: return (.wait, false)
      }
    }

    /// The body as a whole, where it is there to its end in one piece or none, as that of a small response is; nil for any
    /// other, which is read piece by piece.
    mutating func readWhole() -> Data? {
      guard case .success = outcome, pieces.count - firstPiece <= 1 else { return nil }
      guard case .take(let piece) = read().step else { return nil }
      return piece ?? Data()
    }

    /// True where there is anything for a waiting reader.
    func isReady(forHead: Bool) -> Bool {
      outcome != nil || (forHead ? head != nil : firstPiece < pieces.count)
    }
  }
#endif
