#if os(Linux)
  import ErrandFoundation

  /// One coding that is undone, and the source of its input: the stage before it, or the feeder of the first.
  final class DecodingStage {
    /// A stage's answer to its reader.
    enum Reading {
      case gave(Int)
      /// The first stage must be fed.
      case wants
      case end
    }

    private static let pieceSize = 64 << 10

    private let decoder: ContentDecoder
    private let before: DecodingStage?
    private let limits: DecodingLimits
    private var input = Data()
    private var offset = 0
    /// Nothing comes after the input that is there.
    private var isLast = false
    /// The output was filled, so that the library may have kept more of it; or it has to say what is wrong.
    private var mayHoldMore = false
    private var taken: Int64 = 0
    /// The number of bytes that it has unpacked.
    private(set) var given: Int64 = 0

    init(_ coding: ContentCoding, after before: DecodingStage?, _ limits: DecodingLimits) {
      decoder = ContentDecoder(coding, isLenient: limits.isLenient)
      self.before = before
      self.limits = limits
    }

    /// Hands the next packed bytes to the first stage; nil at their end.
    func feed(_ packed: Data?) {
      if let before { return before.feed(packed) }
      if let packed { input = packed } else { isLast = true }
    }

    /// Unpacks into `output` what can be without more to feed; at least a byte where it gave any.
    func read(into output: UnsafeMutableRawBufferPointer) throws -> Reading {
      while true {
        if offset < input.count || mayHoldMore {
          let count = try unpack(into: output)
          if count > 0 { return .gave(count) }
        } else if isLast {
          try decoder.finish()
          return .end
        } else if let before {
          guard try fill(from: before) else { return .wants }
        } else {
          return .wants
        }
      }
    }

    private func unpack(into output: UnsafeMutableRawBufferPointer) throws -> Int {
      let step = try input.withUnsafeBytes { bytes throws in
        try decoder.run(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: output)
      }
      guard step.taken > 0 || step.given > 0 || mayHoldMore else {
        throw TaskError(.internal, "unpacking the body stands still", phase: .receiving)
      }
      mayHoldMore = step.given == output.count || decoder.isDamaged
      offset += step.taken
      taken += Int64(step.taken)
      given += Int64(step.given)
      if offset == input.count {
        input = Data()
        offset = 0
      }
      if let excess = limits.excess(given, of: wire) { throw excess }
      return step.given
    }

    /// The number of bytes from the wire that were unpacked.
    private var wire: Int64 { before?.wire ?? taken }

    /// Takes the next piece of the stage before; false where that must be fed first.
    private func fill(from before: DecodingStage) throws -> Bool {
      var piece = Data(count: Self.pieceSize)
      let step = try piece.withUnsafeMutableBytes { bytes throws in try before.read(into: bytes) }
      switch step {
      case .gave(let count): input = piece.prefix(count)
      case .wants: return false
      case .end: isLast = true
      }
      return true
    }
  }
#endif
