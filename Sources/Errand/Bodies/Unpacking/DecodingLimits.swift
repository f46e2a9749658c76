#if os(Linux)
  /// The limits on the growth of a body while it is unpacked, so that a small message cannot fill memory or disk.
  struct DecodingLimits: Sendable {
    /// Below it the ratio does not count: much of the same is common in small bodies.
    static let unsuspicious: Int64 = 16 << 20

    let maximumSize: Int64
    let maximumRatio: Int64

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
