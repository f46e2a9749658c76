import ErrandTesting
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A private server program on 127.0.0.1 with its own folder. It stops when it is released.
final class LocalServer: Sendable {
  struct Failure: Error { let reason: String }

  let port: UInt16
  let folder: URL
  private let process: Int32

  /// Returns the path of a program, or `nil` if it is not installed.
  static func path(of name: String) -> String? { paths(of: name).first }

  /// Returns all paths of a program. An absolute path is returned unchanged.
  static func paths(of name: String) -> [String] {
    if name.hasPrefix("/") { return FileManager.default.isExecutableFile(atPath: name) ? [name] : [] }
    let folders =
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + [
        "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
      ]
    return folders.map { "\($0)/\(name)" }.filter { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Whether the program must be installed. In CI, a missing program fails the test instead of skipping it.
  static func isExpected(_ name: String) -> Bool {
    path(of: name) != nil || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: The name of the program.
  ///   - files: The files in the program's folder, by path.
  ///   - configuration: Returns the text of the file `configuration` for a port and the folder.
  ///   - arguments: Returns the program's arguments for the folder.
  init(
    _ name: String, files: [String: Data] = [:], configuration: (UInt16, String) -> String,
    arguments: (String) -> [String]
  ) async throws {
    guard let path = Self.path(of: name) else { throw Failure(reason: "\(name) is not installed") }
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "errand-\(URL(fileURLWithPath: name).lastPathComponent)-\(UUID().uuidString)")
    let root = folder.appendingPathComponent("root")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    // Some of the server's processes run as other users and must be able to access the folder and write logs.
    for place in [folder, root] {
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.path)
    }
    for (file, data) in files { try data.write(to: folder.appendingPathComponent(file)) }
    for _ in 0..<10 {
      let port = try Self.freePort()
      let text = configuration(port, folder.path)
      try Data(text.utf8).write(to: folder.appendingPathComponent("configuration"))
      let process = try Self.spawn([path] + arguments(folder.path), home: folder.path)
      if try await Self.answers(port, process) {
        self.port = port
        self.process = process
        return
      }
      Self.end(process) {}  // another process has taken the port, so try the next one
    }
    let log = (try? String(contentsOf: folder.appendingPathComponent("error.log"), encoding: .utf8)) ?? ""
    throw Failure(reason: "\(name) did not start: \(log)")
  }

  /// Returns the server's URL.
  func url(_ scheme: String) throws -> URL {
    guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else {
      throw Failure(reason: "can't make a URL for port \(port)")
    }
    return url
  }

  deinit {
    let folder = folder
    Self.end(process) { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
  }

  /// Returns a port that was free a moment ago.
  ///
  /// The port is below the range used for port 0, so no other test's server can take the port first and be mistaken for
  /// the program.
  private static func freePort() throws -> UInt16 {
    for _ in 0..<100 {
      let port = UInt16.random(in: 20_000..<32_768)
      let descriptor = streamSocket()
      defer { close(descriptor) }
      var address = loopback(port: port)
      let isBound = withUnsafeBytes(of: &address) { bytes in
        bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
      }
      if isBound { return port }
    }
    throw Failure(reason: "can't find a free port")
  }

  private static func streamSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, Int32(SOCK_STREAM), 0)
    #endif
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func spawn(_ words: [String], home: String) throws -> Int32 {
    var process = pid_t()
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] = [strdup("HOME=\(home)"), strdup("PATH=/usr/bin:/bin"), nil]
    defer { for text in arguments + environment { free(text) } }
    // Test threads block signals, and children inherit the signal mask, so SIGTERM would not arrive.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let status: Int32
    #if canImport(Glibc)
      // Close the tests' sockets and locks in the child process, but keep its output.
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for descriptor: Int32 in 3..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
      status = posix_spawn(&process, words[0], &actions, &attributes, &arguments, &environment)
    #else
      status = posix_spawn(&process, words[0], nil, &attributes, &arguments, &environment)
    #endif
    guard status == 0 else { throw Failure(reason: "\(words[0]) can't be run") }
    return process
  }

  /// Whether the process listens on the port. Returns `false` if it has exited.
  ///
  /// - Throws: ``Failure`` if the process does neither within 30 s.
  private static func answers(_ port: UInt16, _ process: Int32) async throws -> Bool {
    var hasEnded = false
    let isOver = await eventually(within: .seconds(30)) {
      var status: Int32 = 0
      hasEnded = waitpid(process, &status, WNOHANG) == process
      return hasEnded || connects(to: port)
    }
    guard isOver else {
      end(process) {}
      throw Failure(reason: "the server did not listen on port \(port) within 30 s")
    }
    return !hasEnded
  }

  private static func connects(to port: UInt16) -> Bool {
    let descriptor = streamSocket()
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
    }
  }

  /// Terminates a process so that it can end its children, then calls `finish`.
  ///
  /// Waits on a separate thread, because tests run on only two threads, and kills the process after five seconds.
  private static func end(_ process: Int32, finish: @escaping @Sendable () -> Void) {
    kill(process, SIGTERM)
    Thread.detachNewThread {
      var status: Int32 = 0
      let limit = ContinuousClock.now + .seconds(5)
      while waitpid(process, &status, WNOHANG) == 0 {
        if ContinuousClock.now > limit {
          kill(process, SIGKILL)
          waitpid(process, &status, 0)
          break
        }
        usleep(2000)
      }
      finish()
    }
  }
}
