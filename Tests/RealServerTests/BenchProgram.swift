#if os(Linux)
  import Foundation
  import Glibc
  import Testing

  /// An `errand-bench` that is made to be killed; killed with the last reference at the latest.
  final class BenchProgram {
    private let process: pid_t
    private var code: Int32?

    /// Starts it. Not with `Process`, which knows no kill.
    ///
    /// - Parameters:
    ///   - words: The scenario and its options.
    ///   - output: The file for what it prints; nowhere unless given.
    init(_ words: [String], output: URL? = nil) throws {
      let products = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
      let bench = products.appendingPathComponent("errand-bench").path
      var arguments: [UnsafeMutablePointer<CChar>?] = ([bench] + words).map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(
        &actions, STDOUT_FILENO, output?.path ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      // It holds nothing of the tests: no socket that is to be closed, no lock of those who started it.
      for descriptor: Int32 in 3..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
      var number = pid_t()
      try #require(posix_spawn(&number, bench, &actions, nil, &arguments, environ) == 0)
      process = number
    }

    deinit { kill() }

    /// Stops it, until it is resumed.
    func stop() { _ = Glibc.kill(process, SIGSTOP) }

    /// Resumes it after a stop.
    func resume() { _ = Glibc.kill(process, SIGCONT) }

    /// Kills it; the exit code where it had ended by itself.
    @discardableResult
    func kill() -> Int32? {
      _ = Glibc.kill(process, SIGKILL)
      return wait()
    }

    /// Waits for its end; the exit code, or nil where it was killed.
    @discardableResult
    func wait() -> Int32? {
      if let code { return code }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 {
        guard errno == EINTR else { return code }
      }
      code = status & 0x7F == 0 ? status >> 8 & 0xFF : nil
      return code
    }
  }
#endif
