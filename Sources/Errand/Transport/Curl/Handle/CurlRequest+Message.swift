#if os(Linux)
  import CCurl

  extension CurlRequest {
    func setMethod(_ easy: OpaquePointer, _ transfer: CurlTransfer) throws {
      if request.method == .head { ccurl_easy_set_long(easy, CCOPT_NOBODY, 1) }
      let isImplied = request.method == .head || (request.method == .get && !transfer.sendsBody)
      guard !isImplied else { return }
      try require(ccurl_easy_set_string(easy, CCOPT_CUSTOMREQUEST, request.method.rawValue), "use \(request.method)")
    }

    func setMessage(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      if transfer.sendsBody {
        ccurl_easy_set_long(easy, CCOPT_UPLOAD, 1)
        ccurl_easy_set_off(easy, CCOPT_INFILESIZE_LARGE, transfer.statedLength ?? -1)
        ccurl_easy_set_long(easy, CCOPT_UPLOAD_BUFFERSIZE, 128 << 10)
        // Otherwise, an early error response ends the upload, which can drop bytes of another stream.
        if transfer.mayMultiplex, !transfer.isAlone, !transfer.expectsContinue, CurlLibrary.mixesStreams {
          ccurl_easy_set_long(easy, CCOPT_KEEP_SENDING_ON_ERROR, 1)
        }
      }
      if let timeout = request.options.continueTimeout {
        // libcurl stores the value in 16 bits.
        let milliseconds = min(max(1, timeout.nanoseconds / 1_000_000), 65_535)
        ccurl_easy_set_long(easy, CCOPT_EXPECT_100_TIMEOUT_MS, Int(milliseconds))
      }
      if transfer.mayMultiplex { ccurl_easy_set_long(easy, CCOPT_VERBOSE, 1) }
      if transfer.mayMultiplex || CurlLibrary.losesFirstField { listen(easy, transfer) }
      let list = transfer.handle.headerList(for: CurlHeaderList.Content(request, sendsBody: transfer.sendsBody))
      ccurl_easy_set_slist(easy, CCOPT_HTTPHEADER, list)
    }

    private func listen(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      ccurl_easy_set_debug(
        easy,
        { _, kind, bytes, size, data in
          switch kind {
          case CCINFO_TEXT: CurlTransfer.from(data)?.listen(to: UnsafeRawBufferPointer(start: bytes, count: size))
          case CCINFO_HEADER_IN:
            CurlTransfer.from(data)?.inspect(line: UnsafeMutableRawBufferPointer(start: bytes, count: size))
          default: break
          }
          return 0
        }, Unmanaged.passUnretained(transfer).toOpaque())
    }
  }
#endif
