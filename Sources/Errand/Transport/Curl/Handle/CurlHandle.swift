#if os(Linux)
  import CCurl

  /// A libcurl easy handle; freed with the last reference.
  ///
  /// One owner at a time uses it, a transfer or the pool.
  final class CurlHandle {
    private(set) var pointer: OpaquePointer
    /// The request that its options fit, beside those that every request sets anew; nil where it must be reset.
    var plain: Plain?
    /// The header of its request, or of its last one.
    var header: CurlHeaderList?
    /// The last address that was parsed for it.
    var address = ""
    var parsedAddress: OpaquePointer?
    /// libcurl's words for what went wrong: at most 255 bytes and a NUL.
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

    /// libcurl's words for the last failure, closer than its code; empty where it says nothing.
    var remark: String { String(cString: errorBuffer) }

    func clearRemark() { errorBuffer.pointee = 0 }

    func collectRemarks() { ccurl_easy_set_pointer(pointer, CCOPT_ERRORBUFFER, errorBuffer) }
  }

  /// The options of a handle, kept from one request to the next.
  extension CurlHandle {
    /// The options that differ between plain requests.
    struct Plain: Equatable {
      let method: HTTPMethod
      let mayMultiplex: Bool
      /// The origin of the options of TLS; empty without TLS.
      let secureOrigin: String
      let pins: Set<String>?
    }

    /// Has the next request go to `address`, which is parsed here: libcurl would do so for every request, and write it
    /// anew besides. False where it is no URL, or an IPv6 address with a zone, which libcurl forgets before 8.3.
    func setParsed(_ address: String) -> Bool {
      if address == self.address { return true }
      guard let parsed = parsedAddress ?? ccurl_url_init() else { return false }
      parsedAddress = parsed
      let mayHaveZone = address.utf8.contains(UInt8(ascii: "[")) && address.utf8.contains(UInt8(ascii: "%"))
      let isParsed = !mayHaveZone && ccurl_url_parse(parsed, address) == CCE_OK
      self.address = isParsed ? address : ""
      // Or the last one overrides any other address.
      return ccurl_easy_set_pointer(pointer, CCOPT_CURLU, isParsed ? UnsafeRawPointer(parsed) : nil) == CCE_OK
        && isParsed
    }

    /// The list of a header; the last one, where it is the same.
    func headerList(for content: CurlHeaderList.Content) -> UnsafeMutablePointer<ccurl_slist>? {
      if let header, header.serves(content) { return header.pointer }
      let made = CurlHeaderList(content)
      header = made
      return made.pointer
    }

    /// Forgets every option, and has it read in pieces of `bufferSize`.
    ///
    /// libcurl keeps the buffers of a handle whose stream ended beside others, and sets no size while it has one: the next
    /// stream would read in pieces of 16 KiB, and overflow with a single record of TLS. Such a handle is made anew.
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
