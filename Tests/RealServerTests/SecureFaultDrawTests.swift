#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// TLS faults for a reader who names their causes from the printed errors alone. If this test runs before
  /// `FaultDrawTests` with the same folder in `ERRAND_FAULTS`, `FaultDrawTests` includes the TLS faults. The test
  /// checks the diagnoses even if no folder is set.
  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct SecureFaultDrawTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared() }

    private func start(_ change: (inout Nginx.Security) -> Void = { _ in }) async throws -> Nginx {
      var security = Nginx.Security(certificates: certificates)
      change(&security)
      return try await Nginx(files: ["hello": Data("hello\n".utf8)], security: security)
    }

    private func error(
      _ url: URL, _ change: (inout CurlTransport.Configuration) -> Void = { _ in },
      _ set: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> TaskError {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      change(&configuration)
      var settings = ServerConfiguration()
      set(&settings)
      let server = Server(
        Remote(url), configuration: settings, transport: try CurlTransport(configuration), environment: [:])
      return try #require(
        await #expect(throws: TaskError.self) { _ = try await URLTask(url).on(server).retry(.never).run() })
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func `each TLS fault has the expected diagnosis and its own error`() async throws {
      let right = try await start()
      let port = try #require(right.url.port)
      let page = right.url.appendingPathComponent("hello")
      let plain = try await Nginx(files: ["hello": Data("hello\n".utf8)])
      let old = try await start { $0.protocols = "TLSv1.2" }
      let asking = try await start { $0.asksForCertificate = true }
      let expired = try await start { $0.shown = certificates.expired }
      let alone = try await start { $0.shown = certificates.selfSigned }
      let elsewhere = try url("https://other.test:\(port)/hello")
      let toPlain = try url("https://127.0.0.1:\(plain.url.port ?? 0)/hello")
      let toSecure = try url("http://127.0.0.1:\(port)/hello")
      let reported: [(what: String, cause: String, error: TaskError)] = [
        ("an expired certificate", "certificateExpired", try await error(expired.url)),
        (
          "a certificate for another name", "certificateName",
          try await error(elsewhere) { $0.addresses = ["other.test:\(port)": "127.0.0.1"] }
        ),
        ("an unknown authority", "certificateUnknown", try await error(page) { $0.tls.authorities = .system }),
        ("a self-signed certificate", "certificateUnknown", try await error(alone.url)),
        ("no common version of TLS", "tlsRefused", try await error(old.url) { $0.tls.minimumVersion = .tls1_3 }),
        ("https to a port without TLS", "plainServer", try await error(toPlain)),
        ("http to a port with TLS", "malformedRequest", try await error(toSecure)),
        ("no client certificate", "malformedRequest", try await error(asking.url.appendingPathComponent("hello"))),
        (
          "another key than the pinned one", "pinMismatch",
          try await error(page, { _ in }) {
            $0.register(publicKey: "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", for: "127.0.0.1")
          }
        ),
      ]
      for (what, cause, error) in reported { #expect(error.diagnosis?.name == cause, "\(what): \(error)") }
      for words in ["could not agree on TLS", "does not speak TLS on that port"] {
        #expect(reported.contains { "\($0.error)".contains(words) })
      }
      #expect(Set(reported.map { "\($0.error.reason)" }).count == reported.count)
      guard let folder = ProcessInfo.processInfo.environment["ERRAND_FAULTS"] else { return }
      let lines = reported.map { "\($0.what); told as \($0.error.diagnosis?.name ?? "-")\t\($0.error)\n" }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent("tls.txt"))
    }
  }
#endif
