#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
  #else
    import Foundation
  #endif

  /// URLSession's measurements of one transaction, in its own terms; pure, so that the reckoning is tested everywhere.
  struct TransferMoments {
    /// The moment when URLSession began with the request.
    var fetchStart: Date?
    /// The moment when the name was known; nil where none was looked up.
    var domainLookupEnd: Date?
    /// The moment when the connection was established, TLS included; nil on a reused one.
    var connectEnd: Date?
    /// The moment when the TLS handshake began, which is when the bare connection was established.
    var secureConnectionStart: Date?
    /// The moment when the TLS handshake was done.
    var secureConnectionEnd: Date?
    /// The moment when the request began to be sent.
    var requestStart: Date?
    /// The moment when the first byte of the response came.
    var responseStart: Date?
    /// The moment when the last byte of the response came.
    var responseEnd: Date?
    /// Bytes of header and body sent.
    var bytesSent: Int64 = 0
    /// Bytes of header and body received, before decoding.
    var bytesReceived: Int64 = 0
    /// Bytes of body received, after decoding.
    var bytesDecoded: Int64 = 0
    /// The other end's address, and its port.
    var remoteAddress = ""
    var remotePort = 0
    /// The number of transactions that went over the network for the one request.
    var transactions = 1

    /// The same as this library counts it: from the start, and never backwards.
    var timings: TransferTimings {
      var timings = TransferTimings.Parts()
      timings.nameLookup = sinceStart(domainLookupEnd) ?? .zero
      timings.connect = sinceStart(secureConnectionStart ?? connectEnd) ?? timings.nameLookup
      timings.secureConnect = sinceStart(secureConnectionEnd) ?? .zero
      timings.requestStart = sinceStart(requestStart) ?? max(timings.connect, timings.secureConnect)
      timings.firstByte = sinceStart(responseStart) ?? timings.requestStart
      timings.lastByte = sinceStart(responseEnd) ?? timings.firstByte
      timings.bytesSent = bytesSent
      timings.bytesReceived = bytesReceived
      timings.bytesDecoded = bytesDecoded
      timings.wasResent = transactions > 1
      timings.remoteAddress = remoteAddress
      timings.remotePort = remotePort
      return TransferTimings(timings)
    }

    private func sinceStart(_ date: Date?) -> Duration? {
      guard let fetchStart, let date else { return nil }
      return max(.zero, .seconds(date.timeIntervalSince(fetchStart)))
    }
  }

  extension HTTPVersion {
    /// The version by the name that ALPN gives it (RFC 7301 §6); nil for one that is not known.
    init?(protocolName: String) {
      switch protocolName.lowercased() {
      case "http/1.0": self = .http1_0
      case "http/1.1": self = .http1_1
      case "h2": self = .http2
      case "h3": self = .http3
      default: return nil
      }
    }
  }
#endif
