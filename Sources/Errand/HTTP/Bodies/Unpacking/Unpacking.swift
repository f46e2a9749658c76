#if os(Linux)
  import ErrandFoundation

  /// Decompresses a body without suspending: one side passes in compressed bytes and the other reads decompressed
  /// bytes.
  struct Unpacking {
    enum Reading {
      case take(Data)
      /// Needs more input.
      case wants
      case end
    }

    static let chunkSize = 64 << 10
    /// The estimated size of an entire body, as a multiple of its first compressed chunk.
    private static let usualRatio = 4
    private static let smallest = 1 << 10

    private var stage: DecodingStage?
    private var buffer = DecompressedBuffer()
    private let mayBeEmpty: Bool
    private var hasBegun = false
    private var failure: (any Error)?
    private(set) var decoded: Int64 = 0
    private var firstSize = 0

    /// Creates a decompressor for a body compressed with these codings, in the order in which they were applied.
    init(_ codings: [ContentCoding], _ limits: DecodingLimits, mayBeEmpty: Bool) {
      var stage: DecodingStage?
      for coding in codings.reversed() { stage = DecodingStage(coding, after: stage, limits) }
      self.stage = stage
      self.mayBeEmpty = mayBeEmpty
    }

    init(failing error: any Error) {
      failure = error
      mayBeEmpty = false
    }

    var isOver: Bool { stage == nil }

    /// Adds the next compressed bytes, or `nil` at the end.
    mutating func feed(_ compressed: Data?) {
      if compressed == nil, !hasBegun, mayBeEmpty { stage = nil }
      if !hasBegun { firstSize = compressed?.count ?? 0 }
      hasBegun = true
      stage?.feed(compressed)
    }

    mutating func fail(_ error: any Error) {
      guard !isOver else { return }
      failure = error
      stage = nil
    }

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

    /// Returns all remaining bytes once the body is complete. Throws ``HTTPBodyLimitError`` as soon as they exceed
    /// `limit`.
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
        buffer = DecompressedBuffer()
        throw failure
      }
      return buffer.count > 0 ? .take(buffer.take()) : .end
    }

    /// Enlarges a full buffer, up to one byte more than the limit. If the extra byte is used, the limit is exceeded.
    private func grow(_ limit: Int) throws {
      guard buffer.room.isEmpty, !isOver else { return }
      let guess =
        buffer.capacity == 0 ? max(Self.smallest, min(firstSize, 1 << 20) * Self.usualRatio) : buffer.capacity * 2
      try buffer.resize(to: min(guess, limit == .max ? limit : max(limit, 0) + 1))
    }

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

  /// The limits on the size of a decompressed body, which prevent decompression bombs.
  struct DecodingLimits: Sendable {
    /// The size up to which the ratio is not checked: small bodies often compress extremely well.
    static let unsuspicious: Int64 = 16 << 20

    let maximumSize: Int64
    let maximumRatio: Int64
    /// Whether to accept a missing checksum, and trailing bytes other than zeros.
    var isLenient = false

    /// Returns the error if the decoded size exceeds a limit, otherwise `nil`.
    @inline(__always)
    func excess(_ decoded: Int64, of compressed: Int64) -> TaskError? {
      guard decoded > min(Self.unsuspicious, maximumSize) else { return nil }
      return failure(decoded, of: compressed)
    }

    private func failure(_ decoded: Int64, of compressed: Int64) -> TaskError? {
      if decoded > maximumSize {
        return TaskError(
          .bodyTooLarge, "the decompressed body exceeds the transport's maximumDecodedSize of \(maximumSize) bytes",
          phase: .receiving)
      }
      guard decoded > Self.unsuspicious, (decoded - 1) / max(compressed, 1) >= maximumRatio else { return nil }
      return TaskError(
        .bodyTooLarge,
        "\(compressed) bytes of the body decompress to at least \(decoded), over \(maximumRatio) times as many; see the "
          + "transport's maximumDecodingRatio",
        phase: .receiving)
    }
  }
#endif
