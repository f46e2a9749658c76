#if os(Linux)
  import Errand
  import Foundation
  import Glibc
  import Testing

  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct TrustedKeysTests {
    private static let wrong = "sha256/\(String(repeating: "A", count: 43))="
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared() }

    private func transport(_ authorities: TLSSettings.Authorities) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = authorities
      return try CurlTransport(configuration)
    }

    @Test func `accepts a key that matches a backup pin and rejects other keys`() async throws {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)], security: .init(certificates: certificates))
      let server = Server(Remote(nginx.url), transport: try transport(.pem(certificates.authority)))
      let task = Endpoint<Void, Data>.get("hello", defaults: EndpointDefaults(server: server))
      await server.update { $0.register(publicKey: Self.wrong, for: "127.0.0.1") }
      let error = await #expect(throws: TaskError.self) { try await task.download() }
      #expect(error?.code == .pinMismatch, "\(String(describing: error))")
      await server.update { $0.register(publicKey: "sha256/\(certificates.serverPin)", for: "127.0.0.1") }
      #expect(try await task.download() == Data("hello\n".utf8))
    }

    /// The certificate of a public CA in the system's folder. The file is named by the subject hash, as OpenSSL expects.
    private static let publicAuthority: (file: String, subject: String)? = {
      let folder = "/etc/ssl/certs"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names.sorted() where name.hasSuffix(".0") {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent(
          "errand-subject-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }  // leftovers are harmless
        guard
          Shell.runAndBlock("openssl x509 -in '\(folder)/\(name)' -noout -subject -nameopt compat > '\(output.path)'")
            == 0,
          let line = try? String(contentsOf: output, encoding: .utf8), line.hasPrefix("subject=")
        else { continue }
        let subject = line.dropFirst("subject=".count).trimmingCharacters(in: .whitespacesAndNewlines)
        let isPlain = subject.hasPrefix("/") && subject.utf8.allSatisfy { $0 < 0x80 && $0 != 0x5C && $0 != 0x27 }
        if isPlain { return ("\(folder)/\(name)", subject) }
      }
      return nil
    }()

    @Test(.enabled(if: publicAuthority != nil, "the system has no folder of CA certificates"))
    func `does not read the system's CAs if custom CAs are set`() async throws {
      let known = try #require(Self.publicAuthority)
      // This CA has the name of a public CA. If the transport trusted the system's CAs, it would read the public CA's
      // certificate.
      let pretended = try Certificates(authorityNamed: known.subject)
      let nginx = try await Nginx(security: .init(certificates: pretended))
      let watch = try FileWatch(known.file)
      try await withFolder { folder in
        let file = folder.appendingPathComponent("authority.pem")
        try certificates.authority.write(to: file)
        for authorities in [TLSSettings.Authorities.pem(certificates.authority), .file(file)] {
          let transport = try transport(authorities)
          let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, nginx.url)) }
          #expect(error?.code == .untrustedServer, "\(String(describing: error))")
          #expect(!watch.wasOpened, "\(known.file) was read")
        }
        let shown = folder.appendingPathComponent("shown.pem")
        try pretended.server.certificate.write(to: shown)
        _ = await Shell.run(
          "openssl verify -no-CAfile -no-CAstore -CApath /etc/ssl/certs '\(shown.path)' > '\(folder.path)/output' 2>&1")
        #expect(watch.wasOpened, "openssl reads the file, so the watch works")
      }
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-trust-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      try await body(folder)
    }
  }

  /// Watches a file to detect whether it is opened.
  private final class FileWatch {
    private let descriptor: Int32

    init(_ path: String) throws {
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_OPEN)) >= 0 else {
        throw LocalServer.Failure(reason: "\(path) can't be watched")
      }
    }

    deinit { close(descriptor) }

    var wasOpened: Bool {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { read(descriptor, $0.baseAddress, $0.count) > 0 }
    }
  }
#endif
