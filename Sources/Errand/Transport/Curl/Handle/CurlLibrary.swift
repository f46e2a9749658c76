#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The libcurl of the machine, loaded when it is first asked for.
  package enum CurlLibrary {
    /// The reason why it cannot be used; nil when it can.
    static let problem: String? = {
      switch ccurl_load() {
      case Int32(CCURL_LOADED): nil
      case Int32(CCURL_MISSING_LIBRARY): missing
      case Int32(CCURL_TOO_OLD): tooOld
      case Int32(CCURL_MISSING_SYMBOL): "libcurl \(version) lacks a function that is needed"
      default: "libcurl \(version) could not be initialised"
      }
    }()

    /// The problem of a machine without it.
    static let missing = """
      libcurl.so.4 is not installed: \(packages) gets it, and ErrandURLSession is a transport that does without it
      """

    /// The problem of one that is older than those that are tested.
    private static var tooOld: String {
      """
      libcurl \(version) is older than 7.76, the first that the transport is made for: install a newer one, link one with the \
      trait LinkedCurl, or use ErrandURLSession
      """
    }

    /// The commands that install it.
    private static let packages =
      "apt-get install libcurl4 (Debian, Ubuntu), dnf install libcurl (Red Hat) or apk add libcurl (Alpine)"

    /// The problem of a library that speaks no TLS; nil where it does.
    static let lackOfTLS =
      offers(CC_VERSION_SSL)
      ? nil : "the machine's libcurl \(version) was built without TLS: \(packages) gets one with it"

    /// `7.88.1`, or `unknown`.
    static var version: String { ccurl_version().map { String(cString: $0) } ?? "unknown" }

    /// Its version as a number, 0x075801 for 7.88.1; 0 where there is none.
    package static let versionNumber = problem == nil ? ccurl_version_number() : 0

    /// True where what lies in its TLS library can be seen.
    package static let showsTLS = problem == nil && ccurl_shows_tls() == 1

    /// True where it asks before it sends a request: from 7.80 on. Where it does not, each exchange has a connection of its own
    /// and HTTP/1.1, for nothing comes between a pooled one and its next request.
    package static let hasRequestCallback = answers { ccurl_easy_set_prereq($0, nil, nil) == CCE_OK }

    /// True where authorities are taken as data: from 7.77 on, by most TLS libraries.
    package static let takesAuthorities = answers {
      ccurl_easy_set_blob($0, CCOPT_CAINFO_BLOB, "\n", 1) == CCE_OK  // 8.19 refuses an empty one
    }

    /// True where protocols are limited by their names: from 7.85 on.
    static let namesProtocols = ccurl_version_number() >= 0x075500

    /// True where it joins a folded line that begins a head to a field of the handle's last response, which is freed: from
    /// 7.83 until 8.1.2 (curl#11101).
    static let losesFirstField = (0x075300..<0x080102).contains(ccurl_version_number())

    /// True where a stream that ends after a GOAWAY, as its connection's last, loses what came along with its end: up to
    /// 32 KiB, without an error. Seen with 7.88.1; 8.1 reads streams in another way.
    static let losesLastBytes = ccurl_version_number() < 0x080100

    /// True where the end of one stream's upload may drop bytes that it holds for another stream of the connection, without an
    /// error. (`http2_data_done_send` in 7.88's http2.c reads on while `pausedata` waits.) 8.1 reads streams in another way.
    static let mixesStreams = ccurl_version_number() < 0x080100

    /// True where an exchange may get a connection that speaks another version of HTTP than it is to: 8.12.1, neither 8.1.2 nor 8.16.
    static let mixesVersions = (0x080200..<0x081000).contains(ccurl_version_number())

    /// True where a transfer whose address has failed waits for its time limit before it tries the next: from 7.87 until 8.4
    /// (curl#11920).
    static let stallsAtNextAddress = (0x075700..<0x080400).contains(ccurl_version_number())

    /// True where it begins HTTP/2 anew on a connection without TLS that speaks it already, which ends that: 7.88.
    static let restartsHTTP2 = (0x075800..<0x080000).contains(ccurl_version_number())

    /// The file of this machine's authorities, where the library was built to look for them elsewhere; nil where it finds them.
    static let authorities = findsAuthorities ? nil : authorityFiles.first { access($0, R_OK) == 0 }

    /// The advice for a machine that has no authorities; nil where it has some.
    static let lackOfAuthorities: String? =
      findsAuthorities || authorities != nil
      ? nil
      : """
      this machine has no certificates of authorities: apt-get install ca-certificates (Debian, Ubuntu), dnf install \
      ca-certificates (Red Hat) or apk add ca-certificates (Alpine) gets them, and the transport's tls.authorities names others
      """

    private static let findsAuthorities = answers { easy in
      [CCINFO_CAINFO, CCINFO_CAPATH].contains { info in
        var path: UnsafePointer<CChar>?
        guard ccurl_easy_get_string(easy, info, &path) == CCE_OK, let path, access(path, R_OK) == 0 else {
          return false
        }
        // A folder may be there, and empty.
        return info == CCINFO_CAINFO
          || !((try? FileManager.default.contentsOfDirectory(atPath: String(cString: path)))?.isEmpty ?? true)
      }
    }

    /// The answer of a handle of its own to a question; false where the library cannot be used.
    private static func answers(_ question: (OpaquePointer) -> Bool) -> Bool {
      guard problem == nil, let easy = ccurl_easy_init() else { return false }
      defer { ccurl_easy_cleanup(easy) }
      return question(easy)
    }

    /// Debian's, Red Hat's, SUSE's, and that of Alpine and others.
    private static let authorityFiles = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
      "/etc/ssl/cert.pem",
    ]

    /// True where it speaks HTTP/3, and checks pins and authorities there as over TCP, with every TLS library: from 8.18 on.
    static let offersHTTP3 = versionNumber >= 0x081200 && offers(CC_VERSION_HTTP3)

    static func offers(_ feature: Int32) -> Bool { ccurl_features() & feature != 0 }

    /// Nanoseconds of the monotonic clock.
    static var now: UInt64 { ccurl_now() }
  }
#endif
