#if os(Linux)
  import CCurl

  /// The end of a stream of HTTP/2, which libcurl takes for a body's where it is none.
  extension CurlTransfer {
    /// libcurl takes the end of an HTTP/2 connection for the end of its streams, where that broke the protocol. A body of
    /// stated length is counted. Of any other, the connection must still stand, or the server have said that it ends.
    var isCutStream: Bool { endsWithConnection && !loop.sockets.isOpen(socket) }

    /// True where its end may be that of its connection, which others keep open until the turn has reached them too.
    var isInDoubt: Bool { endsWithConnection && loop.sockets.users(of: socket) ?? 0 > 1 }

    private var endsWithConnection: Bool {
      guard let stream, hasOpenEnd else { return false }
      return !isAnswered && (!stream.isLast || CurlLibrary.losesLastBytes)
    }

    /// The answer is of unknown length, and the server may have reset the stream behind it before the whole request was sent (RFC
    /// 9113 §8.1). See ``CurlLibrary/losesLastBytes``.
    ///
    /// With the reset libcurl drops what it holds of the answer, and reads no more. That is an error once it is to send more of the
    /// request, and a success where there is nothing more to send.
    var mayLackItsEnd: Bool {
      guard sendsBody, hasOpenEnd, !isAnswered, CurlLibrary.losesLastBytes else { return false }
      return !isSent || reportsSinceSent.map { $0 <= Self.reportsWithoutReading } ?? false
    }

    /// Counts libcurl's reports of progress from the end of the request on.
    func countReports() {
      guard sendsBody, !isSent, statedLength == nil, hasOpenEnd, CurlLibrary.losesLastBytes else { return }
      reportsSinceSent = 0
      followProgress()
    }

    /// libcurl reports four times from the call that finds the request's end to the end of the transfer, where it has stopped reading
    /// before. Every call that reads reports twice more.
    private static let reportsWithoutReading = 4

    /// The body of the answer ends with its stream.
    private var hasOpenEnd: Bool {
      stream != nil && head.isComplete && head.framing.bodyLength == nil && mayHaveBody
    }
  }
#endif
