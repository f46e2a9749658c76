#if os(Linux)
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct CurlRemarkTests {
    private func remark(_ text: String) -> CurlDebugLine? {
      Array(text.utf8).withUnsafeBytes { CurlDebugLine($0) }
    }

    @Test(arguments: [
      "Using Stream ID: 17 (easy handle 0x55)\n", "[HTTP/2] [17] OPENED stream for https://127.0.0.1/\n",
      "[HTTP/3] [17] OPENED stream for https://127.0.0.1/\n",
    ])
    func `parses the stream ID of a request in the formats of libcurl 7 and 8`(text: String) {
      #expect(remark(text) == .opened(stream: 17))
    }

    @Test func `parses the hexadecimal stream ID of libcurl before 7.84`() {
      #expect(remark("Using Stream ID: 1f (easy handle 0x55)\n") == .opened(stream: 31))
    }

    @Test(
      arguments: [
        ("recveived GOAWAY, error=0, last_stream=5\n", 0), ("received GOAWAY, error=11, last_stream=5\n", 11),
      ] as [(String, UInt32)])
    func `parses the last stream of a GOAWAY in the formats of libcurl 7 and 8`(text: String, error: UInt32) {
      #expect(remark(text) == .goingAway(last: 5, error: error))
    }

    @Test func `parses the largest possible stream ID`() {
      #expect(remark("received GOAWAY, error=0, last_stream=2147483647") == .goingAway(last: 2_147_483_647, error: 0))
    }

    @Test func `recognizes a refused stream`() {
      #expect(remark("REFUSED_STREAM, retrying a fresh connect\n") == .refused)
    }

    @Test(
      arguments: [
        "", "U", "[", "r", "R", "Using HTTP2, server supports multiplexing", "Using Stream ID: (easy",
        "[HTTP/2] [1] [:path: /]",
        "[HTTP/2] [x] OPENED stream", "received GOAWAY", "received GOAWAY, error=0, last_stream=",
        "received GOAWAY, error=0, last_stream=99999999999", "recv, last_stream=3", "REFUSED",
        "Connection died, retrying a fresh connect (retry count: 1)", "Using Stream ID: 4294967296",
      ])
    func `ignores any other text`(text: String) { #expect(remark(text) == nil) }
  }
#endif
