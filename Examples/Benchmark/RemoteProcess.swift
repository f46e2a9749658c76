import ErrandFoundation

/// This program as a server in another process. It stops when ``stop()`` is called or when this process exits.
final class RemoteProcess {
  let url: URL
  private let process: ChildProcess

  /// Starts the process with a scenario that acts as a server.
  init(_ scenario: String = "serve") throws {
    process = try ChildProcess([URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path, scenario])
    let line = String(decoding: process.nextOutput(), as: UTF8.self).filter { !$0.isNewline }
    guard let url = URL(string: line), url.scheme == "http" else {
      process.terminate()
      throw BenchError("the server printed '\(line)' instead of its URL")
    }
    self.url = url
  }

  func stop() { process.wait() }
}
