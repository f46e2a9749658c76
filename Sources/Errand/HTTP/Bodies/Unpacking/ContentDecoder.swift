#if os(Linux)
  import CCurl

  /// Decodes one coding of a body. The library decodes the bytes; this class handles members, the end of the input and
  /// errors.
  final class ContentDecoder {
    private enum Position {
      case beginning
      case inside
      /// A member or frame has ended, so the body can end here.
      case ended
      /// The last member or frame has ended, but trailing bytes follow.
      case padded
    }

    /// The maximum number of bytes skipped after the end of a body.
    private static let mostPadding = 1 << 20

    let coding: ContentCoding
    private let isLenient: Bool
    private var padding = 0
    private var decoder: OpaquePointer?
    private var position = Position.beginning
    /// The error to throw after the decoded bytes have been delivered.
    private var damage: TaskError?

    var isDamaged: Bool { damage != nil }

    init(_ coding: ContentCoding, isLenient: Bool = false) {
      self.coding = coding
      self.isLenient = isLenient
    }

    deinit { if let decoder { cdecoder_free(decoder) } }

    /// Decodes from `input` into `output` until the input is consumed or the output is full.
    func run(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TaskError) -> (taken: Int, given: Int) {
      if let damage { throw damage }
      if position == .ended, let first = input.first, !mayFollow(first) { position = .padded }
      if position == .padded { return (taken: try skip(input), given: 0) }
      if position != .inside {
        guard let first = input.first else { return (0, 0) }
        try begin(with: first)
      }
      guard let decoder, let room = output.baseAddress else { return (0, 0) }
      var taken = 0
      var given = 0
      switch cdecoder_run(decoder, input.baseAddress, input.count, room, output.count, &taken, &given) {
      case CDECODER_GOES_ON: break
      case CDECODER_ENDED: position = .ended
      case CDECODER_NO_MEMORY: throw Self.outOfMemory
      default:
        let damage = damaged(cdecoder_problem(decoder).map { String(cString: $0) })
        guard given > 0 else { throw damage }
        self.damage = damage
      }
      return (taken, given)
    }

    /// Ends the input. Throws ``TaskError`` with code `.truncatedBody` if the body is incomplete.
    func finish() throws(TaskError) {
      guard position != .ended, position != .padded else { return }
      if position == .inside, let decoder, cdecoder_has_all_content(decoder) != 0 {
        if isLenient { return }
        throw TaskError(
          .truncatedBody,
          "the body ended before its \(coding.rawValue) checksum and may be corrupted: if the server never sends a complete checksum, set the transport's lenientDecompression",
          phase: .receiving)
      }
      throw TaskError(
        .truncatedBody, "the body was cut off before the end of its \(coding.rawValue) data", phase: .receiving)
    }

    private func begin(with first: UInt8) throws(TaskError) {
      if position == .ended {
        guard let decoder, cdecoder_restart(decoder) != 0 else { throw Self.outOfMemory }
      } else {
        decoder = cdecoder_create(try format(by: first))
        guard decoder != nil else { throw Self.outOfMemory }
      }
      position = .inside
    }

    /// Skips trailing bytes. They must be zeros unless the decoder is lenient.
    private func skip(_ input: UnsafeRawBufferPointer) throws(TaskError) -> Int {
      guard isLenient || input.allSatisfy({ $0 == 0 }) else {
        throw TaskError(
          .badResponse,
          "more bytes follow the end of the \(coding.rawValue) body: to ignore them, set the transport's lenientDecompression",
          phase: .receiving)
      }
      padding += input.count
      guard padding <= Self.mostPadding else {
        throw TaskError(
          .badResponse, "more than \(Self.mostPadding) bytes follow the end of the \(coding.rawValue) body",
          phase: .receiving)
      }
      return input.count
    }

    /// Whether another member or frame can begin with this byte (RFC 1952 §2.2, RFC 8878 §3.1).
    private func mayFollow(_ first: UInt8) -> Bool {
      switch coding {
      case .gzip: first == 0x1F
      case .zstd: first == 0x28 || first & 0xF0 == 0x50
      case .deflate, .brotli: false
      }
    }

    /// Returns the actual format. Servers send deflate with and without the zlib header (RFC 9110 §8.4.1.2). The first
    /// byte distinguishes them: read as raw deflate, a zlib header would be a stored block with nonzero padding, which
    /// no encoder writes.
    private func format(by first: UInt8) throws(TaskError) -> Int32 {
      guard coding == .deflate else { return coding.format }
      guard first != 0x1F else {
        throw TaskError(.badResponse, "Content-Encoding is deflate, but the body is gzip", phase: .receiving)
      }
      return first & 0x8F == 0x08 ? CDECODER_ZLIB : CDECODER_DEFLATE
    }

    private func damaged(_ words: String?) -> TaskError {
      TaskError(
        .badResponse, "the body is not valid \(coding.rawValue): \(words ?? "it is corrupted")",
        phase: .receiving)
    }

    private static var outOfMemory: TaskError {
      TaskError(.internal, "not enough memory to decompress the body", phase: .receiving)
    }
  }
#endif
