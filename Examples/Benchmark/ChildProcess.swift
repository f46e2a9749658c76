import ErrandFoundation
import ErrandTesting

/// A child process connected by its standard input and output. Its input ends when this process exits.
final class ChildProcess: Sendable {
  private let number: pid_t
  private let output: Int32
  private let input: Shared<Int32>

  /// Starts a program by its path.
  ///
  /// - Parameters:
  ///   - arguments: The path and the arguments.
  ///   - log: The file for its standard error. Defaults to this process's standard error.
  init(_ arguments: [String], log: URL? = nil) throws {
    let (childInput, input) = try Self.makePipe()
    let (output, childOutput) = try Self.makePipe()
    defer {
      close(childInput)
      close(childOutput)
    }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, childInput, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, childOutput, STDOUT_FILENO)
    if let log {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var texts = arguments.map { strdup($0) } + [nil]
    defer { for text in texts { free(text) } }
    var number = pid_t()
    let code = posix_spawn(&number, arguments[0], &actions, nil, &texts, environ)
    guard code == 0 else {
      close(input)
      close(output)
      throw BenchError("\(arguments[0]) can't be started: \(String(cString: strerror(code)))")
    }
    self.number = number
    self.output = output
    self.input = Shared(input)
  }

  deinit {
    closeInput()
    close(output)
  }

  /// Returns the next chunk of the process's standard output, or empty data at the end.
  func nextOutput() -> Data {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(output, &buffer, buffer.count)
    return Data(buffer.prefix(max(0, count)))
  }

  /// Returns the rest of the process's standard output.
  func allOutput() -> String {
    var all = Data()
    while true {
      let piece = nextOutput()
      if piece.isEmpty { return String(decoding: all, as: UTF8.self) }
      all.append(piece)
    }
  }

  /// The process's peak memory in megabytes, or 0 if the system does not report it.
  var peakMegabytes: Double {
    let text = (try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
    return (kilobytes ?? 0) * 1024 / 1e6
  }

  /// Returns the exit code, or `nil` if the process has not exited yet.
  func ended() -> Int32? {
    var status: Int32 = 0
    return waitpid(number, &status, WNOHANG) == number ? (status & 0x7F == 0 ? status >> 8 & 0xFF : -1) : nil
  }

  /// Closes the process's input, waits for it to exit and returns its exit code.
  @discardableResult
  func wait() -> Int32 {
    closeInput()
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
  }

  /// Terminates the process.
  func terminate() {
    _ = ErrandFoundation.kill(number, SIGTERM)
    wait()
  }

  /// Kills the process. Throws if it had already exited.
  func kill() throws {
    _ = ErrandFoundation.kill(number, SIGKILL)
    let code = wait()
    guard code == -1 else { throw BenchError("a process exited by itself with code \(code)") }
  }

  /// Kills the process. Returns the exit code if it had already exited.
  func killed() -> Int32? {
    _ = ErrandFoundation.kill(number, SIGKILL)
    let code = wait()
    return code == -1 ? nil : code
  }

  /// Closes the process's input.
  func closeInput() {
    input.withLock { input in
      if input >= 0 { close(input) }
      input = -1
    }
  }

  /// Creates a pipe. Other children must not inherit its ends, because that would keep the pipe open.
  private static func makePipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw BenchError("can't create a pipe: \(String(cString: strerror(errno)))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
