#if os(Linux)
  import CCurl

  /// A libcurl easy handle, freed with the last reference. It has one owner at a time: a transfer or the pool.
  final class CurlHandle {
    private(set) var pointer: OpaquePointer
    /// The properties of the request that the options are set for, without those that change with every request. `nil`
    /// if the handle must be reset first.
    var plain: Plain?
    var header: CurlHeaderList?
    /// The URL in `parsedAddress`.
    var address = ""
    var parsedAddress: OpaquePointer?
    /// libcurl's error message: at most 255 bytes and a NUL.
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CC_ERROR_SIZE))

    init(_ pointer: OpaquePointer) {
      self.pointer = pointer
      errorBuffer.initialize(repeating: 0, count: Int(CC_ERROR_SIZE))
    }

    deinit {
      ccurl_easy_cleanup(pointer)
      if let parsedAddress { ccurl_url_cleanup(parsedAddress) }
      errorBuffer.deallocate()
    }

    /// libcurl's message for the last failure, more specific than the code, or empty if libcurl gave no details.
    var remark: String { String(cString: errorBuffer) }

    func clearRemark() { errorBuffer.pointee = 0 }

    func collectRemarks() { ccurl_easy_set_pointer(pointer, CCOPT_ERRORBUFFER, errorBuffer) }
  }

  extension CurlHandle {
    struct Plain: Equatable {
      let method: HTTPMethod
      let mayMultiplex: Bool
      /// The origin that the TLS options are set for, or empty without TLS.
      let secureOrigin: String
      let pins: Set<String>?
    }

    /// Sets the URL of the next request. The URL is parsed here because libcurl would otherwise parse and rewrite it
    /// for every request. Returns `false` if the URL is invalid or has an IPv6 zone, which libcurl before 8.3 drops.
    func setParsed(_ address: String) -> Bool {
      if address == self.address { return true }
      guard let parsed = parsedAddress ?? ccurl_url_init() else { return false }
      parsedAddress = parsed
      let mayHaveZone = address.utf8.contains(UInt8(ascii: "[")) && address.utf8.contains(UInt8(ascii: "%"))
      let isParsed = !mayHaveZone && ccurl_url_parse(parsed, address) == CCE_OK
      self.address = isParsed ? address : ""
      // If parsing failed, clear this option. Otherwise, the last parsed URL would override the URL option.
      return ccurl_easy_set_pointer(pointer, CCOPT_CURLU, isParsed ? UnsafeRawPointer(parsed) : nil) == CCE_OK
        && isParsed
    }

    func headerList(for content: CurlHeaderList.Content) -> UnsafeMutablePointer<ccurl_slist>? {
      if let header, header.serves(content) { return header.pointer }
      let made = CurlHeaderList(content)
      header = made
      return made.pointer
    }

    /// Resets every option and sets the size of the receive buffer.
    ///
    /// If a handle's stream ended while other streams were active, libcurl keeps the handle's buffers and can't change
    /// their size. The next stream would read 16 KiB at a time, and a single TLS record would overflow the buffer. In
    /// that case, the handle is replaced.
    func reset(bufferSize: Int) {
      ccurl_easy_reset(pointer)
      address = ""
      guard ccurl_easy_set_long(pointer, CCOPT_BUFFERSIZE, bufferSize) != CCE_OK, let made = ccurl_easy_init() else {
        return
      }
      ccurl_easy_cleanup(pointer)
      pointer = made
      ccurl_easy_set_long(pointer, CCOPT_BUFFERSIZE, bufferSize)
    }
  }
#endif
