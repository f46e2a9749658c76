import ErrandTransfers

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Snippets

  /// A private Docker registry, which is open or requires tokens from its own token service. It stops when it is
  /// released.
  final class DockerRegistry: Sendable {
    static let isExpected = LocalServer.isExpected("docker-registry") && LocalServer.isExpected("openssl")

    let url: URL
    /// The token service, which accepts `ann` with the password `sesame`.
    let tokens: MockServer?
    private let server: LocalServer

    init(requiresTokens: Bool = false) async throws {
      let signer = requiresTokens ? try TokenSigner() : nil
      let tokens = requiresTokens ? try MockServer() : nil
      if let tokens, let signer {
        tokens.route(.get, "/token") { request in
          let credential = Data("ann:sesame".utf8).base64EncodedString()
          guard request.headers[.authorization] == "Basic \(credential)" else { return .status(.unauthorized) }
          guard let token = signer.token(for: request.query["scope"]) else { return .status(.internalServerError) }
          return .json(#"{"token":"\#(token)","expires_in":300}"#)
        }
      }
      let files = signer.map { ["root/tokens.pem": $0.certificate] } ?? [:]
      server = try await LocalServer("/bin/sh", files: files) { [tokens] port, folder in
        """
        version: 0.1
        log: {level: error, accesslog: {disabled: true}}
        storage: {filesystem: {rootdirectory: \(folder)/data}, delete: {enabled: true}}
        http: {addr: "127.0.0.1:\(port)"}
        \(tokens.map { Self.authentication(at: $0.url, folder) } ?? "")
        """
      } arguments: {
        ["-c", "exec docker-registry serve '\($0)/configuration' > '\($0)/error.log' 2>&1"]
      }
      self.tokens = tokens
      url = try server.url("http")
    }

    private static func authentication(at tokens: URL, _ folder: String) -> String {
      let key = "rootcertbundle: \(folder)/root/tokens.pem"
      return "auth: {token: {realm: \"\(tokens)/token\", service: registry, issuer: errand, \(key)}}"
    }

    /// The scopes of the token requests, in order.
    var scopes: [String] { tokens?.requests.map { $0.query["scope"] ?? "" } ?? [] }
  }

  extension DockerRegistry {
    private struct Blob: ServerTask {
      let path: String
      var httpMethod = HTTPMethod.get
    }

    func server(password: String? = nil) -> Server {
      Server(url, asDefault: false) {
        $0.log = .discard
        if let password { $0.authentication = .custom(RegistryTokens(user: "ann", password: password)) }
      }
    }

    /// Runs `body` with a file in its own folder.
    static func withLayer(_ body: (URL, Data) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let file = folder.appendingPathComponent("layer.tar")
      let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
      try data.write(to: file)
      try await body(file, data)
    }

    func upload(_ file: URL, to server: Server, chunk: Int = 300_000) -> ResumableUpload {
      ResumableUpload(
        of: file, with: AddBlob(repository: "team/app").on(server), by: RegistryUpload(), chunkSize: chunk)
    }

    /// Returns the content of the blob at the `Location` of the last response.
    func stored(_ answer: TaskResponse<Data>, on server: Server) async throws -> Data {
      let url = try #require(answer.headers[.location].flatMap { URL(string: $0) })
      return try await Blob(path: String(url.path.dropFirst())).on(server).data()
    }
  }

  /// Signs registry tokens with an RSA key, using `openssl`.
  private final class TokenSigner: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "errand-key-\(UUID().uuidString)")
    let certificate: Data

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let status = Shell.runAndBlock(
        "cd '\(folder.path)' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=errand -days 2 2> errors"
      )
      guard status == 0 else { throw LocalServer.Failure(reason: "can't create the registry's key") }
      certificate = try Data(contentsOf: folder.appendingPathComponent("cert"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless

    /// Returns a token for a scope such as `repository:team/app:pull,push`.
    func token(for scope: String?) -> String? {
      let words = (scope ?? "").split(separator: ":")
      let actions = words.last.map { $0.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ",") } ?? ""
      let access = words.count == 3 ? #"{"type":"\#(words[0])","name":"\#(words[1])","actions":[\#(actions)]}"# : ""
      let now = Int(Date().timeIntervalSince1970)
      let lines = String(decoding: certificate, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }
      let parts = [
        #"{"typ":"JWT","alg":"RS256","x5c":["\#(lines.joined())"]}"#,
        #"{"iss":"errand","sub":"ann","aud":"registry","exp":\#(now + 300),"nbf":\#(now - 60),"iat":\#(now - 60),"jti":"\#(UUID())","access":[\#(access)]}"#,
      ].map { Self.encoded(Data($0.utf8)) }
      let text = parts.joined(separator: ".")
      let name = UUID().uuidString
      guard
        Shell.runAndBlock("cd '\(folder.path)' && printf %s '\(text)' | openssl dgst -sha256 -sign key -out \(name)")
          == 0,
        let signature = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
      else { return nil }
      return "\(text).\(Self.encoded(signature))"
    }

    /// Returns Base64url without padding (RFC 7515 §2).
    private static func encoded(_ data: Data) -> String {
      data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
    }
  }
#endif
