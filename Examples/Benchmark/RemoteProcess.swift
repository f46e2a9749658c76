import ErrandFoundation

/// This program once more, as a server; ended with ``stop()``, or with this process.
final class RemoteProcess {
  let url: URL
  private let process: ChildProcess

  /// Starts it with a scenario that serves.
  init(_ scenario: String = "serve") throws {
    process = try ChildProcess([URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path, scenario])
    let line = String(decoding: process.nextOutput(), as: UTF8.self).filter { !$0.isNewline }
    guard let url = URL(string: line), url.scheme == "http" else {
      process.terminate()
      throw BenchError("the server said '\(line)' instead of its URL")
    }
    self.url = url
  }

  func stop() { process.wait() }
}
