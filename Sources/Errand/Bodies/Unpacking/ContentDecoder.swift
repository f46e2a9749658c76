#if os(Linux)
  import CCurl

  /// Undoes one coding of one body, step by step: members, ends and damage are judged here, bytes by the library.
  final class ContentDecoder {
    private enum Position {
      case beginning
      case inside
      /// A member or frame has ended: the body may end here, too.
      case ended
    }

    let coding: ContentCoding
    private var decoder: OpaquePointer?
    private var position = Position.beginning
    /// The error in the bytes after those that were given.
    private var damage: TaskError?

    /// True when the next run throws, whatever it is given.
    var isDamaged: Bool { damage != nil }

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit { if let decoder { cdecoder_free(decoder) } }

    /// Unpacks from `input` into `output`, as far as either lasts.
    func run(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TaskError) -> (taken: Int, given: Int) {
      if let damage { throw damage }
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

    /// Ends the input.
    /// Throws ``TaskError`` with code `.truncatedBody` where there ought to be more.
    func finish() throws(TaskError) {
      guard position != .ended else { return }
      throw TaskError(
        .truncatedBody, "the body ended before its \(coding.rawValue) did: a part of it is missing", phase: .receiving)
    }

    private func begin(with first: UInt8) throws(TaskError) {
      if position == .ended {
        guard mayFollow(first) else {
          throw TaskError(
            .badResponse, "more bytes follow the end of the \(coding.rawValue) body", phase: .receiving)
        }
        guard let decoder, cdecoder_restart(decoder) != 0 else { throw Self.outOfMemory }
      } else {
        decoder = cdecoder_create(try format(by: first))
        guard decoder != nil else { throw Self.outOfMemory }
      }
      position = .inside
    }

    /// True when a member or frame may begin so, after another one (RFC 1952 §2.2, RFC 8878 §3.1).
    private func mayFollow(_ first: UInt8) -> Bool {
      switch coding {
      case .gzip: first == 0x1F
      case .zstd: first == 0x28 || first & 0xF0 == 0x50
      case .deflate, .brotli: false
      }
    }

    /// The actual format: servers send what they call deflate with its header (RFC 9110 §8.4.1.2) and without. The
    /// first byte tells: a header's looks like a stored block whose padding is not zero, which no encoder writes.
    private func format(by first: UInt8) throws(TaskError) -> Int32 {
      guard coding == .deflate else { return coding.format }
      guard first != 0x1F else {
        throw TaskError(.badResponse, "the body says deflate and is gzip", phase: .receiving)
      }
      return first & 0x8F == 0x08 ? CDECODER_ZLIB : CDECODER_DEFLATE
    }

    private func damaged(_ words: String?) -> TaskError {
      TaskError(
        .badResponse, "the body is not the \(coding.rawValue) that it says it is: \(words ?? "it is damaged")",
        phase: .receiving)
    }

    private static var outOfMemory: TaskError {
      TaskError(.internal, "no memory to unpack the body with", phase: .receiving)
    }
  }
#endif
