#if os(Linux)
  import CCurl
  import Foundation
  import Testing

  @Suite(.timeLimit(.minutes(1))) struct CurlHeaderTests {
    @Test(.enabled(if: Header.isExpected, "<curl/curl.h> 7.85 or later was not installed when CCurl was compiled"))
    func `the constants match libcurl's header`() {
      let header = Header.check()
      #expect(header.compared > 0, "curl's header is not installed, or CurlHeaderCheck.c was compiled before it was")
      #expect(header.firstDifference == nil)
    }

    @Test(.enabled(if: Decoders.isExpected, "no header of zlib, brotli or zstd was installed when CCurl was compiled"))
    func `the decoder constants match their headers`() {
      let header = Decoders.check()
      #expect(header.compared > 0, "no decoder header is installed, or DecoderHeaderCheck.c was compiled before it was")
      #expect(header.firstDifference == nil)
    }

    @Test(arguments: [CDECODER_GZIP, CDECODER_ZLIB, CDECODER_DEFLATE, CDECODER_BROTLI, CDECODER_ZSTD, 99])
    func `creates a decoder only if its library is available`(format: Int32) {
      let decoder = cdecoder_create(format)
      #expect((decoder != nil) == (cdecoder_is_available(format) != 0))
      if let decoder { cdecoder_free(decoder) }
    }

    @Test(.enabled(if: Library.isPresent, "libcurl.so.4 7.85 or later is not installed"))
    func `loads the system's libcurl`() throws {
      #expect(ccurl_load() == CCURL_LOADED)
      let version = try #require(ccurl_version())
      #expect(ccurl_version_number() >= 0x075500, "\(String(cString: version))")
      #expect(ccurl_features() & CC_VERSION_SSL == 0 || ccurl_ssl_version() != nil)
    }

    @Test(arguments: [
      (block: "", lines: []),
      (block: "unfinished", lines: []),
      (block: "Accept;|X-A: 1|", lines: ["Accept;", "X-A: 1"]),
      (block: "X-A: 1|unfinished", lines: ["X-A: 1"]),
    ])
    func `a header list contains only the complete lines of its header block`(block: String, lines: [String]) {
      // A bar stands for NUL, because a NUL would truncate the test's name.
      let bytes = block.utf8.map { $0 == UInt8(ascii: "|") ? 0 : CChar($0) }
      let list = ccurl_header_list(bytes, bytes.count)
      defer { ccurl_header_list_free(list) }
      #expect(texts(of: list) == lines)
    }

    private func texts(of list: UnsafeMutablePointer<ccurl_slist>?) -> [String] {
      sequence(first: list) { $0?.pointee.next }
        .prefix { $0 != nil }
        .compactMap { $0?.pointee.data.map { String(cString: $0) } }
    }
  }

  private enum Header {
    static var isExpected: Bool {
      check().compared > 0 || ProcessInfo.processInfo.environment["CI_HEADERS"] == "1"
    }

    static func check() -> (compared: Int32, firstDifference: String?) {
      var difference: UnsafePointer<CChar>?
      let compared = ccurl_header_check(&difference)
      return (compared, difference.map { String(cString: $0) })
    }
  }

  private enum Decoders {
    static var isExpected: Bool { check().compared > 0 }

    static func check() -> (compared: Int32, firstDifference: String?) {
      var difference: UnsafePointer<CChar>?
      let compared = cdecoder_header_check(&difference)
      return (compared, difference.map { String(cString: $0) })
    }
  }

  private enum Library {
    static var isPresent: Bool {
      ![CCURL_MISSING_LIBRARY, CCURL_TOO_OLD].contains(ccurl_load())
    }
  }
#endif
