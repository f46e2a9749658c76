#if os(Linux)
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// An `errand-bench` process that tests can suspend and kill. It is killed when it is released.
  final class BenchProgram {
    private let process: pid_t
    private var code: Int32?

    /// Starts the process. Doesn't use `Process`, which can't send SIGKILL.
    ///
    /// - Parameters:
    ///   - words: The scenario and its options.
    ///   - output: The file for its output. By default the output is discarded.
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
      // Close the tests' sockets and locks in the child process.
      for descriptor: Int32 in 3..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
      var number = pid_t()
      try #require(posix_spawn(&number, bench, &actions, nil, &arguments, environ) == 0)
      process = number
    }

    deinit { kill() }

    /// Suspends the process.
    func stop() { _ = Glibc.kill(process, SIGSTOP) }

    /// Resumes the process.
    func resume() { _ = Glibc.kill(process, SIGCONT) }

    /// Kills the process. Returns the exit code if it had already exited.
    @discardableResult
    func kill() -> Int32? {
      _ = Glibc.kill(process, SIGKILL)
      return ended()
    }

    /// Kills the process as soon as `condition` is met, for at most 30 s. Returns whether the process ran until then.
    ///
    /// Polls on a separate thread, because tests run on only two threads, and the process may soon be done.
    func kill(when condition: @escaping @Sendable () -> Bool) async -> Bool {
      let process = process
      let isMet = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let limit = ContinuousClock.now + .seconds(30)
          while !condition(), ContinuousClock.now < limit { usleep(1000) }
          _ = Glibc.kill(process, SIGKILL)
          continuation.resume(returning: ContinuousClock.now < limit)
        }
      }
      return ended() == nil && isMet
    }

    /// Waits until the process exits. Returns the exit code, or `nil` if it was killed.
    func wait() async -> Int32? {
      _ = await eventually(within: .seconds(120)) {
        var information = siginfo_t()
        return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) != 0 || information.si_signo != 0
      }
      return ended()
    }

    private func ended() -> Int32? {
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
