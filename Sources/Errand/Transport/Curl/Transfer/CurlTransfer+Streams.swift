#if os(Linux)
  import CCurl

  /// Detects HTTP/2 bodies that are truncated, although libcurl reports them as complete.
  extension CurlTransfer {
    /// Whether the body ended because its connection ended. When a protocol error ends an HTTP/2 connection, libcurl
    /// reports the connection's streams as complete. If a body has a declared length, libcurl counts its bytes. For any
    /// other body, the connection must still be open, or the server must have announced that it would close the
    /// connection.
    var isCutStream: Bool { endsWithConnection && !loop.sockets.isOpen(socket) }

    /// Whether the body may have ended with its connection, which stays open until libcurl has processed its other
    /// streams.
    var isInDoubt: Bool { endsWithConnection && loop.sockets.users(of: socket) ?? 0 > 1 }

    private var endsWithConnection: Bool {
      guard let stream, hasOpenEnd else { return false }
      return !isAnswered && (!stream.isLast || CurlLibrary.losesLastBytes)
    }

    /// Whether a body of unknown length may be truncated, because the server reset the stream before the entire request
    /// was sent (RFC 9113 §8.1). In that case, libcurl drops the part of the response that it has buffered and stops
    /// reading. It reports an error if part of the request is still unsent, and success otherwise. See
    /// ``CurlLibrary/losesLastBytes``.
    var mayLackItsEnd: Bool {
      guard sendsBody, hasOpenEnd, !isAnswered, CurlLibrary.losesLastBytes else { return false }
      return !isSent || reportsSinceSent.map { $0 <= Self.reportsWithoutReading } ?? false
    }

    func countReports() {
      guard sendsBody, !isSent, statedLength == nil, hasOpenEnd, CurlLibrary.losesLastBytes else { return }
      reportsSinceSent = 0
      followProgress()
    }

    /// The number of progress reports between the call that finds the end of the request and the end of the transfer,
    /// if libcurl has already stopped reading. Every call that reads adds two more.
    private static let reportsWithoutReading = 4

    private var hasOpenEnd: Bool {
      stream != nil && head.isComplete && head.framing.bodyLength == nil && mayHaveBody
    }
  }
#endif
