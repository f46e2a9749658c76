import Foundation

/// This program once more, as a server; ended with ``stop()``, or with this process.
final class RemoteProcess {
  let url: URL
  private let process = Process()
  private let input = Pipe()

  init() throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["serve"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let url = URL(string: line.trimmingCharacters(in: .newlines)), url.scheme == "http" else {
      process.terminate()
      throw BenchError("the server said '\(line)' instead of its URL")
    }
    self.url = url
  }

  func stop() {
    try? input.fileHandleForWriting.close()  // where it is closed already the server has ended
    process.waitUntilExit()
  }
}
