import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An nginx of the test's own on 127.0.0.1, ended with the last reference.
final class Nginx: Sendable {
  struct Failure: Error { let reason: String }

  let url: URL
  private let folder: URL
  private let process: Int32

  /// Where it is installed; nil where it is not.
  static let path: String? = {
    let folders =
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin", "/usr/local/sbin"]
    return folders.map { "\($0)/nginx" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// Whether there is one; on a machine that checks every change a missing one is a failure, not a reason to skip.
  static let isExpected = path != nil || ProcessInfo.processInfo.environment["CI"] == "true"

  /// Starts it with these files, by path.
  init(files: [String: Data] = [:]) async throws {
    guard let path = Self.path else { throw Failure(reason: "nginx is not installed") }
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-nginx-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("root"), withIntermediateDirectories: true)
    // The workers run as somebody else, who must get in.
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    for (name, data) in files { try data.write(to: folder.appendingPathComponent("root/\(name)")) }
    for _ in 0..<10 {
      let port = try Self.freePort()
      guard let url = URL(string: "http://127.0.0.1:\(port)") else { break }
      try Data(Self.configuration(port, folder).utf8).write(to: folder.appendingPathComponent("nginx.conf"))
      let process = try Self.spawn(path, folder)
      if await Self.answers(port, process) {
        self.url = url
        self.process = process
        return
      }
      Self.end(process)  // somebody else took the port in between
    }
    throw Failure(
      reason:
        "nginx did not start: \((try? String(contentsOf: folder.appendingPathComponent("error.log"), encoding: .utf8)) ?? "")"
    )
  }

  deinit {
    Self.end(process)
    try? FileManager.default.removeItem(at: folder)  // it is below the temporary folder
  }

  private static func configuration(_ port: UInt16, _ folder: URL) -> String {
    """
    daemon off;
    worker_processes 1;
    pid \(folder.path)/nginx.pid;
    error_log \(folder.path)/error.log;
    events { worker_connections 1024; }
    http {
      access_log off;
      keepalive_requests 100000;
      client_body_temp_path \(folder.path)/body;
      proxy_temp_path \(folder.path)/proxy;
      fastcgi_temp_path \(folder.path)/fastcgi;
      uwsgi_temp_path \(folder.path)/uwsgi;
      scgi_temp_path \(folder.path)/scgi;
      server {
        listen 127.0.0.1:\(port);
        root \(folder.path)/root;
        location /upload { client_max_body_size 1k; proxy_pass http://127.0.0.1:\(port)/hello; }
      }
    }
    """
  }

  /// A port that was free a moment ago.
  private static func freePort() throws -> UInt16 {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = Int32(SOCK_STREAM)
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
    }
    guard isBound else { throw Failure(reason: "no port is free") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func spawn(_ path: String, _ folder: URL) throws -> Int32 {
    var process = pid_t()
    let words = [path, "-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "\(folder.path)/error.log"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    guard posix_spawn(&process, path, nil, nil, arguments, nil) == 0 else {
      throw Failure(reason: "\(path) cannot be run")
    }
    return process
  }

  /// Whether it listens; false when it has ended.
  private static func answers(_ port: UInt16, _ process: Int32) async -> Bool {
    let limit = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < limit {
      var status: Int32 = 0
      if waitpid(process, &status, WNOHANG) == process { return false }
      if connects(to: port) { return true }
      await Task.yield()
    }
    return false
  }

  private static func connects(to port: UInt16) -> Bool {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
    }
  }

  private static func end(_ process: Int32) {
    var status: Int32 = 0
    kill(process, SIGTERM)
    waitpid(process, &status, 0)
  }
}
