#if os(Linux)
  import CCurl

  /// What the options of a handle are set to from one request to the next.
  extension CurlHandle {
    /// What tells one plain request's options from another's.
    struct Plain: Equatable {
      let method: HTTPMethod
      let mayBeStream: Bool
      /// Whom the options of TLS are for; empty without it.
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
      // Or the last one would go before whatever else is set.
      return ccurl_easy_set_pointer(pointer, CCOPT_CURLU, isParsed ? UnsafeRawPointer(parsed) : nil) == CCE_OK
        && isParsed
    }

    /// The list of a header; the last one, where it is the same.
    func headerList(for content: CurlHeaderList.Content) -> UnsafeMutablePointer<ccurl_slist>? {
      if let header, header.content.matches(content) { return header.pointer }
      let made = CurlHeaderList(content)
      header = made
      return made.pointer
    }

    /// Forgets every option.
    func reset() {
      ccurl_easy_reset(pointer)
      address = ""
    }
  }
#endif
