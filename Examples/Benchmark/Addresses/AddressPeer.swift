import Errand
import ErrandFoundation

/// The hosts in the network namespace, with their DNS server and a proxy: `Tests/Fuzzing/Peer/names.py`.
final class AddressPeer {
  /// The peer's counters.
  struct Summary: Decodable, Sendable {
    /// The connections by target address. Connections to the proxy have the key `proxy`.
    var opened: [String: Int] = [:]
    /// The number of connections that the kernel opened, to any address.
    var begun = 0
    var questions = 0
  }

  static let proxy = Proxy(.http, host: "127.0.0.1", port: 3128)
  /// The addresses to which connections are allowed.
  static let open: Set<String> = ["93.184.215.14", "2606:4700::1111", "proxy"]

  private let process: ChildProcess

  init(_ options: BenchOptions) throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let program = root.appendingPathComponent("Tests/Fuzzing/Peer/names.py").path
    process = try ChildProcess(["/usr/bin/env", "python3", "-B", program, "\(options.seed)"])
    let line = String(decoding: process.nextOutput(), as: UTF8.self)
    guard line.hasPrefix("ready") else { throw BenchError("the peer did not start: it printed '\(line)'") }
  }

  /// Stops the peer and returns its counters.
  func summary() throws -> Summary {
    process.closeInput()
    var output = Data()
    while case let piece = process.nextOutput(), !piece.isEmpty { output += piece }
    process.wait()
    return try JSONDecoder().decode(Summary.self, from: output)
  }
}
