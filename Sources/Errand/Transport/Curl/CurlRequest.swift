#if os(Linux)
  import CCurl
  import Foundation

  /// Writes a request into libcurl's options.
  struct CurlRequest {
    private let request: HTTPRequest
    private let configuration: CurlTransport.Configuration
    private let isSecure: Bool

    init(_ request: HTTPRequest, _ configuration: CurlTransport.Configuration, isSecure: Bool) {
      self.request = request
      self.configuration = configuration
      self.isSecure = isSecure
    }

    func apply(to transfer: CurlTransfer) {
      let easy = transfer.handle.pointer
      // Handles are used again: forget the last request, keep sessions and names.
      ccurl_easy_reset(easy)
      setRules(easy)
      setCallbacks(easy, transfer)
      setMessage(easy, transfer)
      if isSecure { setSecurity(easy) }
    }

    private func setRules(_ easy: OpaquePointer) {
      ccurl_easy_set_long(easy, CCOPT_NOSIGNAL, 1)
      ccurl_easy_set_string(easy, CCOPT_PROTOCOLS_STR, "http,https")  // or file:///etc/passwd would be read
      ccurl_easy_set_long(easy, CCOPT_FOLLOWLOCATION, 0)
      ccurl_easy_set_string(easy, CCOPT_PROXY, "")  // or libcurl reads the environment
      ccurl_easy_set_long(easy, CCOPT_SUPPRESS_CONNECT_HEADERS, 1)
      ccurl_easy_set_long(easy, CCOPT_BUFFERSIZE, 64 << 10)
      ccurl_easy_set_long(easy, CCOPT_PATH_AS_IS, 1)
      // The timers are the loop's own; libcurl's would answer for both with one code.
      ccurl_easy_set_long(easy, CCOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
    }

    private func setMessage(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      ccurl_easy_set_string(easy, CCOPT_URL, request.url.absoluteString)
      if transfer.sendsBody {
        ccurl_easy_set_long(easy, CCOPT_UPLOAD, 1)
        ccurl_easy_set_off(easy, CCOPT_INFILESIZE_LARGE, transfer.statedLength ?? -1)
        ccurl_easy_set_long(easy, CCOPT_UPLOAD_BUFFERSIZE, 128 << 10)
      }
      if request.method == .head {
        ccurl_easy_set_long(easy, CCOPT_NOBODY, 1)
      } else if request.method != .get || transfer.sendsBody {
        ccurl_easy_set_string(easy, CCOPT_CUSTOMREQUEST, request.method.rawValue)
      }
      if request.options.decodesBody, !request.headers.contains(.acceptEncoding) {
        ccurl_easy_set_string(easy, CCOPT_ACCEPT_ENCODING, "")  // all that the library can decode
      }
      transfer.headerList = headerList()
      ccurl_easy_set_slist(easy, CCOPT_HTTPHEADER, transfer.headerList)
    }

    /// The header fields, and for what libcurl would add of its own accord, that it must not.
    private func headerList() -> UnsafeMutablePointer<ccurl_slist>? {
      var block: [UInt8] = []
      block.reserveCapacity(256)
      for field in request.headers {
        // Framing is the transport's business.
        if field.name == .contentLength || field.name == .transferEncoding { continue }
        block.append(contentsOf: field.name.rawName.utf8)
        // libcurl takes "Name:" for the wish to leave a header out; a semicolon sends it empty.
        block.append(contentsOf: field.value.isEmpty ? ";".utf8 : ": ".utf8)
        block.append(contentsOf: field.value.utf8)
        block.append(0)
      }
      if !request.headers.contains(.accept) { block.append(contentsOf: "Accept:\0".utf8) }
      if !request.headers.contains(.expect) { block.append(contentsOf: "Expect:\0".utf8) }
      if !request.headers.contains(.contentType) { block.append(contentsOf: "Content-Type:\0".utf8) }
      return block.withUnsafeBytes { bytes in
        ccurl_header_list(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
    }

    private func setSecurity(_ easy: OpaquePointer) {
      ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_2TLS))
      // Wait for a connection that may carry many, rather than open one for each.
      ccurl_easy_set_long(easy, CCOPT_PIPEWAIT, 1)
      switch configuration.authorities {
      case .system: break
      case .file(let url): ccurl_easy_set_string(easy, CCOPT_CAINFO, url.path)
      case .pem(let data):
        _ = data.withUnsafeBytes { bytes in
          bytes.baseAddress.map { ccurl_easy_set_blob(easy, CCOPT_CAINFO_BLOB, $0, bytes.count) }
        }
      }
    }

    private func setCallbacks(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      let data = Unmanaged.passUnretained(transfer).toOpaque()
      ccurl_easy_set_pointer(easy, CCOPT_PRIVATE, data)
      ccurl_easy_set_header(
        easy,
        { bytes, size, count, data in
          CurlTransfer.from(data)?.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
          return size * count
        }, data)
      ccurl_easy_set_write(
        easy,
        { bytes, size, count, data in
          let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
          return CurlTransfer.from(data)?.receive(body: piece) ?? false ? size * count : Int(CC_WRITEFUNC_PAUSE)
        }, data)
      ccurl_easy_set_prereq(
        easy,
        { data, _, _, _, _ in CurlTransfer.from(data)?.mayGo() ?? false ? CC_PREREQFUNC_OK : CC_PREREQFUNC_ABORT },
        data)
      guard transfer.sendsBody else { return }
      ccurl_easy_set_read(
        easy,
        { bytes, size, count, data in
          CurlTransfer.from(data)?.fill(UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) ?? 0
        }, data)
      // A body is not sent a second time from here: only the pipeline repeats.
      ccurl_easy_set_seek(easy, { _, _, _ in CC_SEEKFUNC_FAIL }, data)
    }
  }

  extension CurlTransfer {
    fileprivate static func from(_ data: UnsafeMutableRawPointer?) -> CurlTransfer? {
      data.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
  }
#endif
