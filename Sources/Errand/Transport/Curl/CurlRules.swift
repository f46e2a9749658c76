#if os(Linux)
  /// What all requests of a transport have in common, prepared once.
  final class CurlRules: Sendable {
    let configuration: CurlTransport.Configuration
    let decodingLimits: DecodingLimits

    init(_ configuration: CurlTransport.Configuration) {
      self.configuration = configuration
      decodingLimits = DecodingLimits(
        maximumSize: configuration.maximumDecodedSize, maximumRatio: Int64(configuration.maximumDecodingRatio))
    }
  }
#endif
