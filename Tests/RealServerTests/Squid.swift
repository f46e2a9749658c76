import Errand
import Foundation

/// A private squid proxy on 127.0.0.1, which is open or requires a credential. It resolves `shop.test` to 127.0.0.1,
/// because requests to this machine's own names bypass proxies.
final class Squid: Sendable {
  static let isExpected = LocalServer.isExpected("squid")
  static let credential = Credential(user: "somebody", password: "open sesame")

  private let server: LocalServer

  /// The proxy without a credential.
  var proxy: Proxy { Proxy(host: "127.0.0.1", port: Int(server.port)) }

  /// Starts squid.
  ///
  /// - Parameters:
  ///   - asksForCredential: Whether the proxy requires a credential.
  ///   - caches: Whether the proxy caches responses in memory.
  init(asksForCredential: Bool = false, caches: Bool = false) async throws {
    // "open sesame" as written by `openssl passwd -apr1 -salt errandxx`.
    let users = Data("somebody:$apr1$errandxx$oAQHTdKQFd117KuRa6aF0.\n".utf8)
    server = try await LocalServer("squid", files: ["users": users, "hosts": Data("127.0.0.1 shop.test\n".utf8)]) {
      port, folder in
      """
      http_port 127.0.0.1:\(port)
      visible_hostname errand-squid
      hosts_file \(folder)/hosts
      pid_filename none
      access_log none
      cache_log \(folder)/error.log
      cache_store_log none
      netdb_filename none
      coredump_dir \(folder)
      \(caches ? "cache_mem 8 MB" : "cache deny all")
      pinger_enable off
      shutdown_lifetime 0 seconds
      server_persistent_connections off
      quick_abort_min 0 KB
      quick_abort_max 0 KB
      \(asksForCredential ? Self.authentication(folder) : "http_access allow all")
      """
    } arguments: {
      ["-N", "-f", "\($0)/configuration"]
    }
  }

  private static func authentication(_ folder: String) -> String {
    let helper = ["/usr/lib/squid", "/usr/lib64/squid", "/usr/libexec/squid", "/usr/local/libexec/squid"].map {
      "\($0)/basic_ncsa_auth"
    }.first { FileManager.default.isExecutableFile(atPath: $0) }
    return """
      auth_param basic program \(helper ?? "basic_ncsa_auth") \(folder)/users
      auth_param basic realm errand
      acl users proxy_auth REQUIRED
      http_access allow users
      http_access deny all
      """
  }
}
