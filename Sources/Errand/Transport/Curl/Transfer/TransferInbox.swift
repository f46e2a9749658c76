#if os(Linux)
  import ErrandFoundation

  /// The unread part of a response, which the loop fills and a single reader empties.
  ///
  /// It holds at most ``highWater`` bytes plus one chunk. When it is full, the connection is paused until at most
  /// ``lowWater`` bytes are left. This limits the memory used by a stream.
  struct TransferInbox {
    static let highWater = 512 << 10
    static let lowWater = 128 << 10
    private static let pieceSize = 128 << 10
    /// The maximum number of bytes that libcurl writes at once.
    private static let worthwhile = 16 << 10

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

    /// Adds a chunk of the body. Returns `false` if libcurl must wait and deliver the chunk again.
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
        // A full write is usually followed by others, so allocate once for several.
        var piece = Data(capacity: Self.pieceSize)
        piece.append(contentsOf: bytes)
        pieces.append(piece)
      } else {
        pieces.append(Data(bytes))
      }
      return true
    }

    mutating func receive(trailer: UnsafeRawBufferPointer) { trailers.append(contentsOf: trailer) }

    /// Ends the transfer. Only the first call has an effect.
    mutating func finish(_ outcome: Result<TransferTimings, any Error>) {
      if self.outcome == nil { self.outcome = outcome }
    }

    mutating func abandon(_ error: any Error) {
      pieces = []
      firstPiece = 0
      buffered = 0
      outcome = .failure(error)
    }

    var isWhole: Bool {
      if case .success = outcome { true } else { false }
    }

    // MARK: The reader's side

    func readHead() -> Reading<[UInt8]> {
      if let head { return .take(head) }
      if case .failure(let error) = outcome { return .fail(error) }
      return .wait
    }

    /// Returns the next chunk, or `nil` at the end. `resumes` is `true` if the connection was paused and should resume.
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

    /// Returns the entire body if it is complete and consists of at most one chunk, as in a small response, otherwise
    /// `nil`.
    mutating func readWhole() -> Data? {
      guard case .success = outcome, pieces.count - firstPiece <= 1 else { return nil }
      guard case .take(let piece) = read().step else { return nil }
      return piece ?? Data()
    }

    func isReady(forHead: Bool) -> Bool {
      outcome != nil || (forHead ? head != nil : firstPiece < pieces.count)
    }
  }
#endif
