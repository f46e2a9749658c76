#if os(Linux)
  import CCurl

  /// How much a body may grow while it is decoded, so that a small message cannot fill the memory.
  struct DecodingLimits {
    private let maximumSize: Int64
    private let maximumRatio: Int64

    init(_ configuration: CurlTransport.Configuration) {
      maximumSize = configuration.maximumDecodedSize
      maximumRatio = Int64(configuration.maximumDecodingRatio)
    }

    /// The error for a body of which libcurl had to hold too much while its reader waited; nil for any other end.
    static func failure(_ code: Int32, _ phase: TaskError.Phase) -> TaskError? {
      guard code == CCE_OUT_OF_MEMORY, phase == .receiving else { return nil }
      return TaskError(
        .bodyTooLarge, "a few bytes of the body decode to more than the 64 MB that are held while nobody reads",
        phase: .receiving)
    }

    /// The error for a body that is past a limit once it has `decoded` bytes; nil while it is not.
    func excess(after decoded: Int64, of easy: OpaquePointer) -> TaskError? {
      guard decoded > 1 << 20 else { return nil }
      if decoded > maximumSize {
        return TaskError(
          .bodyTooLarge, "the decoded body is larger than the \(maximumSize) bytes of maximumDecodedSize",
          phase: .receiving)
      }
      var wire: Int64 = 0
      ccurl_easy_get_off(easy, CCINFO_SIZE_DOWNLOAD_T, &wire)
      guard wire > 0, decoded / wire > maximumRatio else { return nil }
      return TaskError(
        .bodyTooLarge,
        "the decoded body is more than \(maximumRatio) times larger than the \(wire) bytes that came: see maximumDecodingRatio",
        phase: .receiving)
    }
  }
#endif
