import Errand
import Foundation

/// A private Apache server that requires Digest credentials and accepts uploads. It stops when it is released.
final class Apache: Sendable {
  static let credential = Credential(user: "somebody", password: "open sesame")
  static let isExpected = LocalServer.isExpected("apache2")

  let url: URL
  private let server: LocalServer

  /// Starts Apache.
  init() async throws {
    // `htdigest` writes the MD5 hash of the user name, realm and password.
    let users = Data("somebody:errand:9c67bc998868d1420b78cb61c210a7fd\n".utf8)
    server = try await LocalServer("apache2", files: ["users": users, "root/hello": Data("hello\n".utf8)]) {
      Self.configuration($0, $1)
    } arguments: {
      ["-X", "-d", $0, "-f", "\($0)/configuration"]
    }
    url = try server.url("http")
  }

  /// Returns the content of an uploaded file.
  func file(_ name: String) -> Data? {
    FileManager.default.contents(atPath: server.folder.appendingPathComponent("root/\(name)").path)
  }

  private static func configuration(_ port: UInt16, _ folder: String) -> String {
    let modules = ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "dav", "dav_fs"]
    return """
      \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
      ServerName 127.0.0.1
      Listen 127.0.0.1:\(port)
      User www-data
      Group www-data
      PidFile \(folder)/apache.pid
      ErrorLog \(folder)/error.log
      KeepAliveTimeout 300
      MaxKeepAliveRequests 0
      DefaultRuntimeDir \(folder)
      DocumentRoot \(folder)/root
      DavLockDB \(folder)/locks
      <Location "/">
        Dav On
        AuthType Digest
        AuthName errand
        AuthUserFile \(folder)/users
        Require valid-user
      </Location>
      """
  }
}
