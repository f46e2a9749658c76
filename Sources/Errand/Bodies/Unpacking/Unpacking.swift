#if os(Linux)
  import ErrandFoundation

  /// The conversion of a body from packed bytes to plain ones: one side feeds it, the other reads from it. It does not
  /// wait, and knows neither side.
  struct Unpacking {
    /// The reader's next action.
    enum Reading {
      case take(Data)
      /// Feed it.
      case wants
      case end
    }

    /// The largest size of a chunk, in bytes.
    static let chunkSize = 64 << 10
    /// The first guess at a whole body: so many times the size of its first packed piece.
    private static let usualRatio = 4
    private static let smallest = 1 << 10

    private var stage: DecodingStage?
    private var buffer = UnpackedBuffer()
    /// True when the server may mean a body of no bytes at all.
    private let mayBeEmpty: Bool
    private var hasBegun = false
    private var failure: (any Error)?
    /// The number of bytes that were unpacked.
    private(set) var decoded: Int64 = 0
    private var firstSize = 0

    /// A body that was packed with these codings, the last of them last.
    init(_ codings: [ContentCoding], _ limits: DecodingLimits, mayBeEmpty: Bool) {
      var stage: DecodingStage?
      for coding in codings.reversed() { stage = DecodingStage(coding, after: stage, limits) }
      self.stage = stage
      self.mayBeEmpty = mayBeEmpty
    }

    /// A body that cannot be unpacked.
    init(failing error: any Error) {
      failure = error
      mayBeEmpty = false
    }

    /// True when it was unpacked to its end, or failed.
    var isOver: Bool { stage == nil }

    /// Takes the next packed bytes; nil at their end.
    mutating func feed(_ packed: Data?) {
      if packed == nil, !hasBegun, mayBeEmpty { stage = nil }
      if !hasBegun { firstSize = packed?.count ?? 0 }
      hasBegun = true
      stage?.feed(packed)
    }

    /// Gives up: what has not been read is not wanted any more.
    mutating func fail(_ error: any Error) {
      guard !isOver else { return }
      failure = error
      stage = nil
    }

    /// The next chunk.
    mutating func next() throws -> Reading {
      guard hasBegun || isOver else { return .wants }
      var last = DecodingStage.Reading.end
      do {
        if buffer.capacity == 0, !isOver { try buffer.resize(to: Self.chunkSize) }
        last = try fill()
      } catch {
        fail(error)
      }
      if buffer.count > 0 { return .take(buffer.take()) }
      if let failure { throw failure }
      if case .wants = last { return .wants }
      return .end
    }

    /// All that is left, once it is there; throws ``HTTPBodyLimitError`` as soon as it is more than `limit` bytes.
    mutating func whole(upTo limit: Int) throws -> Reading {
      guard hasBegun || isOver else { return .wants }
      do {
        while true {
          try grow(limit)
          let step = try fill()
          guard buffer.count <= limit else { throw HTTPBodyLimitError(limit: limit) }
          if case .wants = step { return .wants }
          if case .end = step { break }
        }
      } catch {
        fail(error)
      }
      if let failure {
        buffer = UnpackedBuffer()
        throw failure
      }
      return buffer.count > 0 ? .take(buffer.take()) : .end
    }

    /// Makes room where there is none, for a byte more than the limit at most: that it was passed is then seen.
    private func grow(_ limit: Int) throws {
      guard buffer.room.isEmpty, !isOver else { return }
      let guess =
        buffer.capacity == 0 ? max(Self.smallest, min(firstSize, 1 << 20) * Self.usualRatio) : buffer.capacity * 2
      try buffer.resize(to: min(guess, limit == .max ? limit : max(limit, 0) + 1))
    }

    /// Unpacks until the room is full or there is nothing to unpack.
    private mutating func fill() throws -> DecodingStage.Reading {
      guard let stage else { return .end }
      while !buffer.room.isEmpty {
        switch try stage.read(into: buffer.room) {
        case .gave(let count):
          buffer.filled(count)
          decoded += Int64(count)
        case .wants: return .wants
        case .end:
          self.stage = nil
          return .end
        }
      }
      return .gave(buffer.count)
    }
  }

  /// The limits on the growth of a body while it is unpacked, so that a small message cannot fill memory or disk.
  struct DecodingLimits: Sendable {
    /// Below it the ratio does not count: much of the same is common in small bodies.
    static let unsuspicious: Int64 = 16 << 20

    let maximumSize: Int64
    let maximumRatio: Int64
    /// Whether a body may lack its checksum, or be followed by other bytes than zeros.
    var isLenient = false

    /// The error for `decoded` bytes that came of `packed`; nil where that is within the limits.
    @inline(__always)
    func excess(_ decoded: Int64, of packed: Int64) -> TaskError? {
      guard decoded > min(Self.unsuspicious, maximumSize) else { return nil }
      return failure(decoded, of: packed)
    }

    private func failure(_ decoded: Int64, of packed: Int64) -> TaskError? {
      if decoded > maximumSize {
        return TaskError(
          .bodyTooLarge, "the body unpacks to more than the \(maximumSize) bytes of the transport's maximumDecodedSize",
          phase: .receiving)
      }
      guard decoded > Self.unsuspicious, (decoded - 1) / max(packed, 1) >= maximumRatio else { return nil }
      return TaskError(
        .bodyTooLarge,
        "\(packed) bytes of the body unpack to \(decoded) and more, over \(maximumRatio) times as many: see the "
          + "transport's maximumDecodingRatio",
        phase: .receiving)
    }
  }
#endif
