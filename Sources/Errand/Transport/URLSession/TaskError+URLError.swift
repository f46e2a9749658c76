#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  extension TaskError {
    /// Converts an error from URLSession. A cancellation by URLSession becomes a `CancellationError`.
    ///
    /// `nothingSeen` is whether the transfer has shown no sign of an established connection. Only then does a
    /// connection failure prove that nothing was sent.
    static func ofURLSession(_ error: any Error, phase: Phase, nothingSeen: Bool) -> any Error {
      guard let error = error as? URLError else {
        return TaskError(.connectionLost, "URLSession failed, \(phase.rawValue)", phase: phase)
      }
      if error.code == .cancelled { return CancellationError() }
      let meaning = URLErrorMeaning(error.code, isReceiving: phase == .receiving)
      let phase = meaning.isConnecting && nothingSeen ? .connecting : phase
      return TaskError(
        meaning.code, "\(meaning.words) (URLError \(error.code.rawValue)), \(phase.rawValue)", phase: phase,
        // Create a new error: URLSession attaches the URL, including any secrets, to its own errors.
        underlying: URLError(error.code), wasNotSent: meaning.isConnecting && nothingSeen)
    }
  }

  struct URLErrorMeaning {
    let code: TaskError.Code
    let words: String
    /// Whether the error occurred while connecting, before the request was sent.
    let isConnecting: Bool

    init(_ code: URLError.Code, isReceiving: Bool) {
      let meaning = Self.connecting[code] ?? Self.later[code]
      // FoundationNetworking reports a truncated body with the code -1.
      let broken: Meaning = (.connectionLost, "the connection was lost")
      (self.code, words) = meaning ?? (isReceiving ? broken : (.connectionLost, "the transfer failed"))
      isConnecting = Self.connecting[code] != nil
    }

    private typealias Meaning = (TaskError.Code, String)

    private static let connecting: [URLError.Code: Meaning] = [
      .badURL: (.badURL, "the URL is malformed"),
      .unsupportedURL: (.badURL, "the URL's scheme is not supported"),
      .cannotFindHost: (.cannotResolveHost, "the host name was not found"),
      .dnsLookupFailed: (.cannotResolveHost, "the host name could not be resolved"),
      .cannotConnectToHost: (.cannotConnect, "could not connect to the host"),
      .notConnectedToInternet: (.offline, "no network connection"),
      .internationalRoamingOff: (.offline, "data roaming is disabled"),
      .callIsActive: (.offline, "a phone call prevents network access"),
      .dataNotAllowed: (.offline, "cellular data is not allowed"),
      .appTransportSecurityRequiresSecureConnection: (.insecureScheme, "App Transport Security requires https"),
      .secureConnectionFailed: (.secureConnectionFailed, "the TLS handshake failed"),
      .serverCertificateHasBadDate: (.untrustedServer, "the server's certificate has expired"),
      .serverCertificateUntrusted: (.untrustedServer, "the server's certificate is not trusted"),
      .serverCertificateHasUnknownRoot: (.untrustedServer, "the server's certificate has an unknown root"),
      .serverCertificateNotYetValid: (.untrustedServer, "the server's certificate is not valid yet"),
    ]

    // With TLS 1.3, the server may verify the client certificate after the request has been sent (RFC 8446 §4.4.2.4).
    private static let later: [URLError.Code: Meaning] = [
      .clientCertificateRejected: (.secureConnectionFailed, "the server rejected the client certificate"),
      .clientCertificateRequired: (.secureConnectionFailed, "the server requires a client certificate"),
      .networkConnectionLost: (.connectionLost, "the connection was lost"),
      .timedOut: (.timedOut, "the system's timeout expired"),
      .badServerResponse: (.badResponse, "the server's response is not valid HTTP"),
      .cannotParseResponse: (.badResponse, "the server's response is not valid HTTP"),
      .cannotDecodeContentData: (.badResponse, "the body could not be decoded"),
      .cannotDecodeRawData: (.badResponse, "the body could not be decoded"),
      .dataLengthExceedsMaximum: (.badResponse, "the response is larger than URLSession allows"),
      .requestBodyStreamExhausted: (.bodyNotReplayable, "URLSession could not resend the body"),
      .userAuthenticationRequired: (.proxyAuthenticationRequired, "the proxy requires credentials"),
    ]
  }
#endif
