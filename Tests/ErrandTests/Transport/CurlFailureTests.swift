#if os(Linux)
  import CCurl
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct CurlFailureTests {
    private typealias Circumstances = CurlFailure.Circumstances

    private static let connecting = Circumstances(phase: .connecting, isSent: false)
    private static let waiting = Circumstances(phase: .awaitingResponse)
    private static let receiving = Circumstances(phase: .receiving, hasBegun: true)

    private func failure(_ code: Int32, _ remark: String = "", _ circumstances: Circumstances) -> CurlFailure {
      CurlFailure(code, remark: remark, words: "in general", circumstances)
    }

    @Test func `does not blame the server for unusable custom certificates`() {
      for code in [CCE_SSL_CACERT_BADFILE, CCE_SSL_CERTPROBLEM] {
        let failure = failure(code, "error setting certificate file: /a.pem", Self.waiting)
        #expect(failure.code == .secureConnectionFailed)
        #expect(failure.reason == "\(TaskError.certificatesReason): error setting certificate file: /a.pem")
      }
    }

    @Test func `an unreadable CA file fails the transport and is named in the error`() throws {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .file(URL(fileURLWithPath: "/nowhere/at/all.pem"))
      let error = try #require(#expect(throws: TaskError.self) { try CurlTransport(configuration) })
      #expect(
        error.reason.hasSuffix("the CA file /nowhere/at/all.pem cannot be read: No such file or directory"))
      #expect(error.cause == .unusableCertificates)
      configuration.tls.verification = .dangerouslyNone
      _ = try CurlTransport(configuration)
    }

    @Test func `reports unusable system CA certificates as an untrusted server`() {
      let remark = "error adding trust anchors from file: /etc/ssl/certs/ca-certificates.crt"
      let failure = CurlFailure(
        CCE_SSL_CACERT_BADFILE, remark: remark, words: "",
        CurlFailure.Circumstances(phase: .connecting, isSent: false, trustsSystem: true))
      #expect(failure.code == .untrustedServer)
      #expect(failure.reason == "cannot load this machine's CA certificates: \(remark)")
    }

    @Test func `a stream of a proxy's connection that was closed is lost or truncated`() {
      let (failedInit, remark): (Int32, String) = (2, "[CONN-2-0] send: no filter connected")
      #expect(failure(failedInit, remark, Self.waiting).code == .connectionLost)
      #expect(failure(failedInit, remark, Self.receiving).code == .truncatedBody)
    }

    @Test func `prefers libcurl's message to the generic message`() {
      #expect(failure(CCE_RECV_ERROR, "Recv failure: Connection reset", Self.waiting).reason.contains("reset"))
      #expect(failure(CCE_RECV_ERROR, "", Self.waiting).reason == "in general")
    }

    @Test(arguments: [
      (
        "Failed to connect to a port 9 after 0 ms: Couldn't connect to server", "Failed to connect to a port 9: Refused"
      ),
      (
        "Failed to connect to a port 9 after 2013 ms: Could not connect to server",
        "Failed to connect to a port 9: Refused"
      ),
      ("connect to a port 9 failed after all ms", "connect to a port 9 failed after all ms (Refused)"),
      ("Connection timed out after ms", "Connection timed out after ms (Refused)"),
    ]) func `a connection error states its reason once`(remark: String, words: String) {
      let failure = failure(CCE_COULDNT_CONNECT, remark, Self.connecting)
      #expect(failure.code == .cannotConnect && failure.reason("Refused") == words)
    }

    @Test(arguments: [
      "SSL certificate problem: certificate has expired", "SSL certificate problem: self-signed certificate",
      "SSL certificate problem: unable to get local issuer certificate",
      "SSL: no alternative certificate subject name matches target host name 'a.example'",
    ])
    func `an untrusted certificate error states its reason`(remark: String) {
      let failure = failure(CCE_PEER_FAILED_VERIFICATION, remark, Self.connecting)
      #expect(failure.code == .untrustedServer && failure.reason.contains(remark))
      let isOfUnknownAuthority = remark.contains("self-signed") || remark.contains("issuer")
      #expect(failure.reason.contains("tls.authorities") == isOfUnknownAuthority)
    }

    @Test func `reports several Location fields as a bad redirect`() {
      let failure = failure(CCE_WEIRD_SERVER_REPLY, "Multiple Location headers", Self.waiting)
      #expect(failure.code == .badRedirect && failure.reason.contains("several Location fields"))
    }

    @Test(arguments: [(waiting, "head"), (receiving, "trailer")])
    private func `says whether the head or the trailer is too large`(circumstances: Circumstances, part: String) {
      let failure = failure(CCE_TOO_LARGE, "", circumstances)
      #expect(failure.code == .badResponse && failure.reason.contains("its \(part) is larger than 256 KiB"))
    }

    @Test(arguments: [CCE_PEER_FAILED_VERIFICATION, CCE_SSL_CACERT_BADFILE])
    func `if no CA certificates are installed, the error says what to install`(code: Int32) {
      var circumstances = Self.connecting
      circumstances.lackOfAuthorities = "this machine has none: install some"
      let failure = failure(code, "unable to get local issuer certificate", circumstances)
      #expect(failure.code == .untrustedServer && failure.reason.hasSuffix("this machine has none: install some"))
    }

    @Test(
      arguments: [
        (CCE_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed", Self.waiting),
        (CCE_UNSUPPORTED_PROTOCOL, "Unsupported response code in HTTP response", Self.waiting),
        (CCE_WEIRD_SERVER_REPLY, "Header without colon", Self.waiting),
        (CCE_OUT_OF_MEMORY, "", Self.waiting), (CCE_TOO_LARGE, "", Self.waiting),
        (CCE_RECV_ERROR, "Illegal or missing hexadecimal sequence in chunked-encoding", Self.receiving),
        (CCE_HTTP2_STREAM, "HTTP/2 stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)", Self.receiving),
        (CCE_RECV_ERROR, "nghttp2 recv error -904: Flooding was detected in this HTTP/2 session", Self.receiving),
      ] as [(Int32, String, Circumstances)])
    private func `reports permanent failures as a bad response`(
      code: Int32, remark: String, circumstances: Circumstances
    ) {
      #expect(failure(code, remark, circumstances).code == .badResponse)
    }

    @Test(
      arguments: [
        (CCE_GOT_NOTHING, "", Self.waiting, .connectionLost), (CCE_RECV_ERROR, "", Self.waiting, .connectionLost),
        (CCE_RECV_ERROR, "", Self.receiving, .truncatedBody), (CCE_PARTIAL_FILE, "", Self.receiving, .truncatedBody),
        (CCE_HTTP2_STREAM, "(err 2)", Self.waiting, .connectionLost),
        (CCE_HTTP2_STREAM, "(err 2)", Self.receiving, .truncatedBody),
        (CCE_SEND_ERROR, "", Self.waiting, .connectionLost), (CCE_SEND_ERROR, "", Self.receiving, .truncatedBody),
        (CCE_COULDNT_CONNECT, "", Self.connecting, .cannotConnect),
        (CCE_COULDNT_RESOLVE_HOST, "", Self.connecting, .cannotResolveHost),
        (CCE_UNSUPPORTED_PROTOCOL, "", Self.connecting, .badURL), (CCE_OUT_OF_MEMORY, "", Self.connecting, .internal),
        (CCE_SSL_PINNEDPUBKEYNOTMATCH, "", Self.connecting, .pinMismatch),
        (CCE_SSL_CONNECT_ERROR, "", Self.connecting, .secureConnectionFailed),
        (CCE_ABORTED_BY_CALLBACK, "", Self.waiting, .connectionLost),
      ] as [(Int32, String, Circumstances, TaskError.Code)])
    private func `maps an error code by the phase of the transfer`(
      code: Int32, remark: String, circumstances: Circumstances, expected: TaskError.Code
    ) {
      #expect(failure(code, remark, circumstances).code == expected)
    }

    @Test(arguments: ["Header without colon", "Invalid response header"])
    func `distinguishes an invalid trailer from an invalid head line`(remark: String) {
      let trailer = failure(CCE_WEIRD_SERVER_REPLY, remark, Self.receiving)
      #expect(trailer.code == .badResponse && trailer.reason.contains("trailer"))
      #expect(!failure(CCE_WEIRD_SERVER_REPLY, remark, Self.waiting).reason.contains("trailer"))
    }

    @Test func `reports a truncated head for every libcurl error code`() {
      let cut = Circumstances(phase: .awaitingResponse, hasBegun: true)
      for code in [CCE_OK, CCE_GOT_NOTHING] {
        #expect(failure(code, "", cut).reason.contains("in the middle of the response head"))
      }
    }

    @Test func `reports a reset without a message as occurring before the whole request was sent`() {
      let failure = failure(CCE_HTTP2_STREAM, "", Self.receiving)
      #expect(failure.code == .truncatedBody && failure.reason.contains("before the whole request was sent"))
    }

    @Test func `reports an oversized HTTP/2 head unless another stream could be the cause`() {
      let words = "h2_process_pending_input: nghttp2_session_mem_recv() returned -902:The user callback function failed"
      let alone = failure(CCE_RECV_ERROR, words, Self.waiting)
      #expect(alone.code == .badResponse && alone.reason.contains("its head is larger than 128 KiB"))
      let trailer = failure(CCE_RECV_ERROR, words, Self.receiving)
      #expect(trailer.code == .badResponse && trailer.reason.contains("its trailer is larger than 128 KiB"))
      let shared = failure(CCE_RECV_ERROR, words, Circumstances(phase: .awaitingResponse, isShared: true))
      #expect(shared.code == .connectionLost && shared.reason.contains("a response on the same connection"))
    }

    @Test func `reports a refused stream as a lost connection, regardless of the message`() {
      let refused = Circumstances(phase: .awaitingResponse, isRefused: true)
      let failure = failure(CCE_HTTP2_STREAM, "PROTOCOL_ERROR", refused)
      #expect(failure.code == .connectionLost && failure.reason.contains("refused"))
    }
  }
#endif
