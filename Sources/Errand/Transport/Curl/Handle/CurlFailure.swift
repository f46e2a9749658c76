#if os(Linux)
  import CCurl

  /// The error code and reason for a libcurl result code and error message.
  struct CurlFailure: Equatable {
    let code: TaskError.Code
    let reason: String

    struct Circumstances {
      var phase = TaskError.Phase.awaitingResponse
      /// Whether at least part of the request was written.
      var isSent = true
      var hasBegun = false
      /// Whether the server reported that it did not process the request.
      var isRefused = false
      var isShared = false
      /// Advice for a machine without CA certificates.
      var lackOfAuthorities: String?
      var trustsSystem = false
    }

    /// `remark` is libcurl's own message, which may be empty. `words` is the general description of `code`.
    init(_ code: Int32, remark: String, words: String, _ circumstances: Circumstances) {
      let isSilent = remark.isEmpty
      let remark = isSilent ? words : remark
      switch code {
      case _ where circumstances.isRefused:
        (self.code, reason) = (.connectionLost, "the server refused the stream without processing it")
      case CCE_PEER_FAILED_VERIFICATION, CCE_SSL_ISSUER_ERROR, CCE_SSL_INVALIDCERTSTATUS:
        (self.code, reason) = (.untrustedServer, Self.distrust(remark, circumstances))
      case CCE_SSL_CACERT_BADFILE where circumstances.lackOfAuthorities != nil:
        (self.code, reason) = (.untrustedServer, Self.distrust(remark, circumstances))
      case CCE_SSL_CACERT_BADFILE where circumstances.trustsSystem:
        (self.code, reason) = (
          .untrustedServer, "cannot load this machine's CA certificates: \(remark)"
        )
      case CCE_SSL_CACERT_BADFILE, CCE_SSL_CERTPROBLEM:
        (self.code, reason) = (.secureConnectionFailed, "\(TaskError.certificatesReason): \(remark)")
      case _ where circumstances.phase == .receiving && Self.isOfField(remark):
        (self.code, reason) = (.badResponse, "the response cannot be read: its trailer contains an invalid line")
      case CCE_WEIRD_SERVER_REPLY where remark.contains("Multiple Location"):
        // libcurl 8.19 and newer reject several `Location` fields before Errand can.
        (self.code, reason) = (
          .badRedirect, "the redirect is not followed: \(LinkedURL.Refusal.several(.location).reason)"
        )
      case CCE_UNSUPPORTED_PROTOCOL where circumstances.isSent, CCE_WEIRD_SERVER_REPLY, CCE_BAD_CONTENT_ENCODING:
        (self.code, reason) = (.badResponse, "the response cannot be read: \(remark)")
      case CCE_OUT_OF_MEMORY where circumstances.isSent, CCE_TOO_LARGE:
        // Newer versions of libcurl also count interim responses, as Errand does, and may reject the head first.
        let part = circumstances.phase == .receiving ? "trailer" : "head"
        let limit = "its \(part) is larger than 256 KiB or has a line longer than 100 KiB"
        (self.code, reason) = (.badResponse, "the response cannot be read: \(limit)")
      case CCE_BAD_FUNCTION_ARGUMENT where circumstances.isSent && circumstances.phase != .receiving:
        (self.code, reason) = (.badResponse, "the response cannot be read: its head contains an invalid line")
      case CCE_BAD_FUNCTION_ARGUMENT where circumstances.isSent && remark.contains("chunk"):
        (self.code, reason) = (.badResponse, "the response cannot be read: its trailer contains an invalid line")
      case CCE_RECV_ERROR where remark.contains("chunk"):
        (self.code, reason) = (.badResponse, "the response's chunked encoding is invalid: \(remark)")
      case CCE_HTTP2_STREAM where isSilent && circumstances.phase == .receiving:
        // If the server resets the stream with NO_ERROR, libcurl reports no message, and 7.88 loses the data just
        // before the reset.
        (self.code, reason) = (.truncatedBody, Self.resetAmidRequest)
      case _ where remark.contains("Flooding was detected"):
        // nghttp2's frame limit was exceeded. Seen with libcurl 8.23.
        (self.code, reason) = (
          .badResponse, "the server flooded the connection with frames that do not belong to a response"
        )
      case _ where remark.contains("no filter connected"):
        // Seen with libcurl 7.88 and HTTP/2 through a proxy, if the server closes a connection with several streams.
        (self.code, reason) = (Self.lost(circumstances), "the server closed the connection")
      case _ where Self.isTooLarge(remark):
        (self.code, reason) = Self.tooLarge(circumstances)
      case CCE_HTTP2, CCE_HTTP2_STREAM, CCE_HTTP3:
        let isMalformed = Self.isMalformed(remark)
        self.code = isMalformed ? .badResponse : Self.lost(circumstances)
        reason = remark
      case _ where Self.isCutHead(code, circumstances):
        self.code = .connectionLost
        reason = "the server closed the connection in the middle of the response head"
      case CCE_ABORTED_BY_CALLBACK:
        // Don't resend the request: the server may have read it before the connection was closed.
        (self.code, reason) = (.connectionLost, "the pooled connection was closed before the response arrived")
      default:
        self.code = Self.kind(code, circumstances)
        reason = self.code == .cannotConnect ? Self.withoutTime(remark) : remark
      }
    }

    /// Removes "after 0 ms", because the error already says how long the call took.
    private static func withoutTime(_ remark: String) -> String {
      guard let start = remark.firstRange(of: " after "), let end = remark[start.upperBound...].firstRange(of: " ms"),
        !remark[start.upperBound..<end.lowerBound].isEmpty,
        remark[start.upperBound..<end.lowerBound].utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return remark }
      return String(remark[..<start.lowerBound] + remark[end.upperBound...])
    }

    /// Returns the reason with the system's error message appended. The message replaces the end of libcurl's own
    /// message if that end only says that the connection failed.
    func reason(_ words: String) -> String {
      for general in [": Couldn't connect to server", ": Could not connect to server"] where reason.hasSuffix(general) {
        return "\(reason.dropLast(general.count)): \(words)"
      }
      return "\(reason) (\(words))"
    }

    /// Whether libcurl's message reports an invalid field. The wording depends on the version of libcurl.
    private static func isOfField(_ remark: String) -> Bool {
      remark.contains("without colon") || remark.contains("Invalid response header")
    }

    private static let resetAmidRequest =
      "the server reset the stream before the whole request was sent, so a response without Content-Length may be incomplete"

    /// The error for a stream that the server reset before the whole request was sent, although libcurl reports
    /// success.
    static var cutByReset: TaskError {
      TaskError(
        .truncatedBody, "\(resetAmidRequest), \(TaskError.Phase.receiving.rawValue)", phase: .receiving)
    }

    private static func isCutHead(_ code: Int32, _ circumstances: Circumstances) -> Bool {
      guard circumstances.hasBegun, circumstances.phase != .receiving else { return false }
      return code == CCE_OK || code == CCE_GOT_NOTHING
    }

    /// Whether libcurl rejected a head or trailer as too large, which ends the HTTP/2 connection. Matches nghttp2's
    /// messages for error -902 and, since nghttp2 1.61, -905: more frames than fit in 128 KiB.
    static func isTooLarge(_ remark: String) -> Bool {
      remark.contains("user callback function failed") || remark.contains("Too many CONTINUATION frames")
    }

    private static func tooLarge(_ circumstances: Circumstances) -> (TaskError.Code, String) {
      // libcurl doesn't say which stream caused the error.
      guard !circumstances.isShared else {
        return (lost(circumstances), "a response on the same connection has a head or trailer larger than 128 KiB")
      }
      let part = circumstances.phase == .receiving ? "trailer" : "head"
      return (.badResponse, "the response cannot be read: its \(part) is larger than 128 KiB, the limit over HTTP/2")
    }

    private static func lost(_ circumstances: Circumstances) -> TaskError.Code {
      circumstances.phase == .receiving ? .truncatedBody : .connectionLost
    }

    private static func kind(_ code: Int32, _ circumstances: Circumstances) -> TaskError.Code {
      switch code {
      case CCE_URL_MALFORMAT, CCE_UNSUPPORTED_PROTOCOL: .badURL
      case CCE_COULDNT_RESOLVE_HOST, CCE_COULDNT_RESOLVE_PROXY: .cannotResolveHost
      case CCE_COULDNT_CONNECT, CCE_INTERFACE_FAILED, CCE_PROXY, CCE_QUIC_CONNECT_ERROR: .cannotConnect
      case CCE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch
      case CCE_SSL_CONNECT_ERROR, CCE_SSL_CIPHER, CCE_SSL_CLIENTCERT, CCE_USE_SSL_FAILED, CCE_SSL_ENGINE_INITFAILED,
        CCE_SSL_CRL_BADFILE:
        .secureConnectionFailed
      case CCE_OPERATION_TIMEDOUT: .timedOut
      case CCE_GOT_NOTHING, CCE_SEND_FAIL_REWIND, CCE_OK: .connectionLost
      // A send error while receiving comes from libcurl's own frames, not from the request.
      case CCE_RECV_ERROR, CCE_PARTIAL_FILE, CCE_SEND_ERROR: lost(circumstances)
      default: .internal
      }
    }

    private static func distrust(_ remark: String, _ circumstances: Circumstances) -> String {
      if let lack = circumstances.lackOfAuthorities { return "the server's certificate is not trusted: \(lack)" }
      let isUnknown = ["self-signed", "self signed", "issuer"].contains { remark.contains($0) }
      let advice =
        isUnknown ? "; if your own CA issued it, add its certificate to the transport's tls.authorities" : ""
      return "the server's certificate is not trusted: \(remark)\(advice)"
    }

    // The error codes for protocol violations (RFC 9113 §7). A retry would fail in the same way.
    private static func isMalformed(_ remark: String) -> Bool {
      ["PROTOCOL_ERROR", "COMPRESSION_ERROR", "FRAME_SIZE_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED"]
        .contains { remark.contains($0) }
    }
  }
#endif
