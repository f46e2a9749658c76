#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlRequest {
    func setSecurity(_ easy: OpaquePointer) throws {
      try requireTLS()
      // Wait for a connection that can carry several requests instead of opening one per request.
      ccurl_easy_set_long(easy, CCOPT_PIPEWAIT, 1)
      let tls = configuration.tls
      // Otherwise, the CAs in libcurl's default directory would be trusted too.
      if tls.authorities != .system { ccurl_easy_set_string(easy, CCOPT_CAPATH, nil) }
      switch tls.authorities {
      case .system:
        if let file = CurlLibrary.authorities { ccurl_easy_set_string(easy, CCOPT_CAINFO, file) }
      case .file(let url):
        try require(ccurl_easy_set_string(easy, CCOPT_CAINFO, url.path), "read the CA certificates")
      case .pem(let data):
        if let file = rules.authorities {
          try require(ccurl_easy_set_string(easy, CCOPT_CAINFO, file.path), "read the CA certificates")
        } else {
          try setBlob(easy, CCOPT_CAINFO_BLOB, data, "load CA certificates from memory")
        }
      }
      let version = Int(tls.minimumVersion == .tls1_3 ? CC_SSLVERSION_TLSv1_3 : CC_SSLVERSION_TLSv1_2)
      try require(ccurl_easy_set_long(easy, CCOPT_SSLVERSION, version), "set the minimum TLS version")
      if let identity = tls.identity {
        try setBlob(easy, CCOPT_SSLCERT_BLOB, identity.certificate, "load a client certificate from memory")
        try setBlob(easy, CCOPT_SSLKEY_BLOB, identity.key, "load a client key from memory")
        if let password = identity.password { ccurl_easy_set_string(easy, CCOPT_KEYPASSWD, password) }
      }
      if let pins = request.options.pins.pins(for: origin.host) {
        // Fail closed: if no pin is valid, use one that matches no key.
        let list = pins.isEmpty ? "sha256//\(String(repeating: "A", count: 43))=" : Self.list(pins)
        try require(ccurl_easy_set_string(easy, CCOPT_PINNEDPUBLICKEY, list), "check pinned keys")
        ccurl_easy_set_long(easy, CCOPT_CERTINFO, 1)
      }
      if tls.verification == .dangerouslyNone {
        ccurl_easy_set_long(easy, CCOPT_SSL_VERIFYPEER, 0)
        ccurl_easy_set_long(easy, CCOPT_SSL_VERIFYHOST, 0)
      }
    }

    /// Sets the TLS options for an https proxy: the same CAs, minimum version and verification as for servers. Pins and
    /// the client identity apply only to servers.
    func setProxySecurity(_ easy: OpaquePointer) throws {
      try requireTLS()
      let tls = configuration.tls
      if tls.authorities != .system { ccurl_easy_set_string(easy, CCOPT_PROXY_CAPATH, nil) }
      switch tls.authorities {
      case .system:
        if let file = CurlLibrary.authorities { ccurl_easy_set_string(easy, CCOPT_PROXY_CAINFO, file) }
      case .file(let url):
        try require(
          ccurl_easy_set_string(easy, CCOPT_PROXY_CAINFO, url.path), "read the CA certificates for the proxy")
      case .pem(let data):
        if let file = rules.authorities {
          try require(
            ccurl_easy_set_string(easy, CCOPT_PROXY_CAINFO, file.path), "read the CA certificates for the proxy"
          )
        } else {
          try setBlob(easy, CCOPT_PROXY_CAINFO_BLOB, data, "load CA certificates for the proxy from memory")
        }
      }
      let version = Int(tls.minimumVersion == .tls1_3 ? CC_SSLVERSION_TLSv1_3 : CC_SSLVERSION_TLSv1_2)
      try require(
        ccurl_easy_set_long(easy, CCOPT_PROXY_SSLVERSION, version), "set the minimum TLS version for the proxy")
      if tls.verification == .dangerouslyNone {
        ccurl_easy_set_long(easy, CCOPT_PROXY_SSL_VERIFYPEER, 0)
        ccurl_easy_set_long(easy, CCOPT_PROXY_SSL_VERIFYHOST, 0)
      }
    }

    private func requireTLS() throws {
      guard let lack = CurlLibrary.lackOfTLS else { return }
      throw TaskError(
        .secureConnectionFailed, "the request to \(origin) was not sent: \(lack)", phase: .preparing, wasNotSent: true)
    }

    private static func list(_ pins: Set<String>) -> String {
      pins.sorted().map { "sha256//\($0)" }.joined(separator: ";")
    }

    private func setBlob(_ easy: OpaquePointer, _ option: Int32, _ data: Data, _ purpose: String) throws {
      try data.withUnsafeBytes { bytes in
        // Reject empty data: libcurl would fall back to the CAs that it trusts by default.
        guard let start = bytes.baseAddress else { return try require(CCE_BAD_FUNCTION_ARGUMENT, purpose) }
        try require(ccurl_easy_set_blob(easy, option, start, bytes.count), purpose)
      }
    }
  }
#endif
