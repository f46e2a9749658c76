import Errand
import ErrandFoundation

/// The misbehaving server in its own process: `Tests/Fuzzing/Peer`. It stops when ``stop()`` is called or when this
/// process exits.
final class FuzzPeer: Sendable {
  /// The protocol of a connection.
  enum Line: String, CaseIterable, Sendable {
    case tcp, tls, h2
  }

  private struct Ports: Decodable {
    let tcp, tls, h2, closing, control: Int
  }

  /// The certificate authority, and the files for crash analysis.
  let folder: URL
  private let ports: Ports
  private let process: ChildProcess

  init(_ options: BenchOptions) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.makeCertificates(in: folder)
    let log = folder.appendingPathComponent("peer.log")
    process = try ChildProcess(
      [try Self.interpreter(), "-B", Self.program, "\(options.seed)", folder.path]
        + ["--without", options.without, "--only", options.only], log: log)
    let line = process.nextOutput()
    guard let ports = try? JSONDecoder().decode(Ports.self, from: line) else {
      throw BenchError("the peer printed '\(String(decoding: line, as: UTF8.self))', not its ports; see \(log.path)")
    }
    self.ports = ports
  }

  /// The available protocols. HTTP/2 requires Python's package `hpack`.
  var lines: [Line] { ports.h2 > 0 ? Line.allCases : [.tcp, .tls] }

  /// Returns the URL of an exchange.
  func url(_ line: Line, _ path: String) throws -> URL {
    switch line {
    case .tcp: try Self.url("http", ports.tcp, path)
    case .tls: try Self.url("https", ports.tls, path)
    case .h2: try Self.url("https", ports.h2, path)
    }
  }

  /// Returns the URL of a TLS server that closes connections at random.
  func closing(_ path: String) throws -> URL { try Self.url("https", ports.closing, path) }

  /// Returns the URL of a server that behaves correctly.
  func control(_ path: String) throws -> URL { try Self.url("http", ports.control, path) }

  func stop() {
    process.wait()
    try? FileManager.default.removeItem(at: folder)  // best effort: the folder is temporary
  }

  private static func url(_ scheme: String, _ port: Int, _ path: String) throws -> URL {
    guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)/\(path)") else { throw BenchError("no URL for \(path)") }
    return url
  }

  private static var program: String {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root.appendingPathComponent("Tests/Fuzzing/Peer").path
  }

  /// Returns a Python interpreter with the package `hpack`, if there is one.
  private static func interpreter() throws -> String {
    let folders =
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/bin"]
    let found = folders.map { "\($0)/python3" }.filter { FileManager.default.isExecutableFile(atPath: $0) }
    let best = try found.first { try run("exec '\($0)' -c 'import hpack' 2>/dev/null", in: nil) == 0 }
    guard let interpreter = best ?? found.first else { throw BenchError("no python3 is installed") }
    return interpreter
  }

  private static func makeCertificates(in folder: URL) throws {
    let script = """
      exec 2>openssl.log && set -e
      openssl ecparam -name prime256v1 -genkey -noout -out ca.key
      openssl req -x509 -new -key ca.key -subj "/CN=errand-bench" -days 2 -out ca.pem
      openssl ecparam -name prime256v1 -genkey -noout -out server.key
      openssl req -new -key server.key -subj "/CN=127.0.0.1" -out server.csr
      printf 'subjectAltName=IP:127.0.0.1' >server.ext
      openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.pem
      """
    guard try run(script, in: folder) == 0 else { throw BenchError("no certificates; see \(folder.path)/openssl.log") }
  }

  private static func run(_ script: String, in folder: URL?) throws -> Int32 {
    let place = folder.map { "cd '\($0.path)' || exit 1\n" } ?? ""
    return try ChildProcess(["/bin/sh", "-c", place + script]).wait()
  }
}
