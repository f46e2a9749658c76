#if os(Linux)
  import CCurl

  /// A libcurl easy handle; freed with the last reference.
  ///
  /// One owner at a time uses it, a transfer or the pool.
  final class CurlHandle {
    let pointer: OpaquePointer
    /// What its options are set for, beside those that every request sets anew; nil where it must be reset.
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

    /// What libcurl says of the last failure, more closely than its code; empty where it says nothing.
    var remark: String { String(cString: errorBuffer) }

    func clearRemark() { errorBuffer.pointee = 0 }

    func collectRemarks() { ccurl_easy_set_pointer(pointer, CCOPT_ERRORBUFFER, errorBuffer) }
  }
#endif
