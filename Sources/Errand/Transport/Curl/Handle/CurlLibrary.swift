#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The installed libcurl, loaded on first use.
  package enum CurlLibrary {
    static let problem: String? = {
      switch ccurl_load() {
      case Int32(CCURL_LOADED): nil
      case Int32(CCURL_MISSING_LIBRARY): missing
      case Int32(CCURL_TOO_OLD): tooOld
      case Int32(CCURL_MISSING_SYMBOL): "libcurl \(version) lacks a required function"
      default: "libcurl \(version) could not be initialized"
      }
    }()

    static let missing = """
      libcurl.so.4 is not installed: install it with \(packages), or use ErrandURLSession, which does not need it
      """

    private static var tooOld: String {
      """
      libcurl \(version) is older than 7.76, the oldest supported version: install a newer version, link one \
      with the LinkedCurl trait, or use ErrandURLSession
      """
    }

    private static let packages =
      "apt-get install libcurl4 (Debian, Ubuntu), dnf install libcurl (Red Hat) or apk add libcurl (Alpine)"

    static let lackOfTLS =
      offers(CC_VERSION_SSL)
      ? nil : "the installed libcurl \(version) was built without TLS: install libcurl with TLS support: \(packages)"

    static var version: String { ccurl_version().map { String(cString: $0) } ?? "unknown" }

    /// The version as a number, such as 0x075801 for 7.88.1. 0 if libcurl can't be used.
    package static let versionNumber = problem == nil ? ccurl_version_number() : 0

    /// Whether the state of libcurl's TLS library can be read.
    package static let showsTLS = problem == nil && ccurl_shows_tls() == 1

    /// Whether libcurl calls back before it sends a request: 7.80 and newer. Without the callback, a pooled connection
    /// can't be checked before its next request, so every exchange uses HTTP/1.1 and its own connection.
    package static let hasRequestCallback = answers { ccurl_easy_set_prereq($0, nil, nil) == CCE_OK }

    /// Whether CA certificates can be loaded from memory: 7.77 and newer, with most TLS libraries.
    package static let takesAuthorities = answers {
      ccurl_easy_set_blob($0, CCOPT_CAINFO_BLOB, "\n", 1) == CCE_OK  // 8.19 rejects empty data
    }

    /// Whether the allowed protocols are set by name: 7.85 and newer.
    static let namesProtocols = ccurl_version_number() >= 0x075500

    /// Whether libcurl appends a folded line at the start of a head to a field of the handle's previous response, which
    /// has been freed: 7.83 to 8.1.1 (curl#11101).
    static let losesFirstField = (0x075300..<0x080102).contains(ccurl_version_number())

    /// Whether the last stream on a connection can silently lose its final 32 KiB if it ends after a GOAWAY. Seen with
    /// 7.88.1. 8.1 reads streams differently.
    static let losesLastBytes = ccurl_version_number() < 0x080100

    /// Whether finishing one stream's upload can silently drop buffered bytes of another stream on the connection:
    /// 7.88's `http2_data_done_send` continues to read while `pausedata` is pending. 8.1 reads streams differently.
    static let mixesStreams = ccurl_version_number() < 0x080100

    /// Whether an exchange can get a connection with a different version of HTTP than it requested. Seen with 8.12.1,
    /// but not with 8.1.2 or 8.16.
    static let mixesVersions = (0x080200..<0x081000).contains(ccurl_version_number())

    /// Whether a transfer waits for its timeout before it tries the next address: 7.87 to 8.3 (curl#11920).
    static let stallsAtNextAddress = (0x075700..<0x080400).contains(ccurl_version_number())

    /// Whether libcurl starts HTTP/2 again on a reused connection without TLS, which breaks the connection: 7.88.
    static let restartsHTTP2 = (0x075800..<0x080000).contains(ccurl_version_number())

    /// The machine's CA file, if libcurl was built to look elsewhere, or `nil` if libcurl finds its own.
    static let authorities = findsAuthorities ? nil : authorityFiles.first { access($0, R_OK) == 0 }

    static let lackOfAuthorities: String? =
      findsAuthorities || authorities != nil
      ? nil
      : """
      this machine has no CA certificates: install them with apt-get install ca-certificates (Debian, Ubuntu), dnf install \
      ca-certificates (Red Hat) or apk add ca-certificates (Alpine), or set the transport's tls.authorities
      """

    private static let findsAuthorities = answers { easy in
      [CCINFO_CAINFO, CCINFO_CAPATH].contains { info in
        var path: UnsafePointer<CChar>?
        guard ccurl_easy_get_string(easy, info, &path) == CCE_OK, let path, access(path, R_OK) == 0 else {
          return false
        }
        // The directory may exist but be empty.
        return info == CCINFO_CAINFO
          || !((try? FileManager.default.contentsOfDirectory(atPath: String(cString: path)))?.isEmpty ?? true)
      }
    }

    private static func answers(_ question: (OpaquePointer) -> Bool) -> Bool {
      guard problem == nil, let easy = ccurl_easy_init() else { return false }
      defer { ccurl_easy_cleanup(easy) }
      return question(easy)
    }

    private static let authorityFiles = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
      "/etc/ssl/cert.pem",
    ]

    /// Whether HTTP/3 can be used: 8.18 and newer, in which every TLS library checks pins and CAs as over TCP.
    static let offersHTTP3 = versionNumber >= 0x081200 && offers(CC_VERSION_HTTP3)

    static func offers(_ feature: Int32) -> Bool { ccurl_features() & feature != 0 }

    /// The current time of the monotonic clock, in nanoseconds.
    static var now: UInt64 { ccurl_now() }
  }
#endif
