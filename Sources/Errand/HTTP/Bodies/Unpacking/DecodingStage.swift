#if os(Linux)
  import ErrandFoundation

  /// Decodes one coding. Its input is the output of the previous stage. The first stage decodes the bytes passed to
  /// ``feed(_:)``.
  final class DecodingStage {
    enum Reading {
      case gave(Int)
      /// The first stage needs more input.
      case wants
      case end
    }

    private static let pieceSize = 64 << 10

    private let decoder: ContentDecoder
    private let before: DecodingStage?
    private let limits: DecodingLimits
    private var input = Data()
    private var offset = 0
    private var isLast = false
    /// Whether the library may have more output or an error without new input.
    private var mayHoldMore = false
    private var taken: Int64 = 0
    private(set) var given: Int64 = 0

    init(_ coding: ContentCoding, after before: DecodingStage?, _ limits: DecodingLimits) {
      decoder = ContentDecoder(coding, isLenient: limits.isLenient)
      self.before = before
      self.limits = limits
    }

    /// Passes compressed bytes to the first stage, or `nil` at the end.
    func feed(_ compressed: Data?) {
      if let before { return before.feed(compressed) }
      if let compressed { input = compressed } else { isLast = true }
    }

    /// Decodes into `output` without waiting for input. The count in `.gave` is never zero.
    func read(into output: UnsafeMutableRawBufferPointer) throws -> Reading {
      while true {
        if offset < input.count || mayHoldMore {
          let count = try decompress(into: output)
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

    private func decompress(into output: UnsafeMutableRawBufferPointer) throws -> Int {
      let step = try input.withUnsafeBytes { bytes throws in
        try decoder.run(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: output)
      }
      guard step.taken > 0 || step.given > 0 || mayHoldMore else {
        throw TaskError(.internal, "decompressing the body made no progress", phase: .receiving)
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

    private var wire: Int64 { before?.wire ?? taken }

    /// Reads the next input from the previous stage. Returns `false` if the first stage needs more input.
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
