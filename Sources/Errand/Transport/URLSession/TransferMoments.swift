#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
  #else
    import Foundation
  #endif

  /// The metrics of one transaction, without a dependency on URLSession, so that they can be tested on every platform.
  struct TransferMoments {
    var fetchStart: Date?
    /// `nil` if no name was looked up.
    var domainLookupEnd: Date?
    /// When the connection was established, including TLS, or `nil` for a reused connection.
    var connectEnd: Date?
    /// When the TLS handshake began, which is when the TCP connection was established.
    var secureConnectionStart: Date?
    var secureConnectionEnd: Date?
    var requestStart: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var bytesSent: Int64 = 0
    /// The number of header and body bytes received, before decoding.
    var bytesReceived: Int64 = 0
    /// The number of body bytes after decoding.
    var bytesDecoded: Int64 = 0
    var remoteAddress = ""
    var remotePort = 0
    var transactions = 1

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
    /// Creates the version for an ALPN protocol name (RFC 7301 §6), or returns `nil` if the name is unknown.
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
