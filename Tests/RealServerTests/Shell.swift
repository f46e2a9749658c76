#if os(Linux)
  import Glibc

  /// Runs a short script and waits for it.
  ///
  /// Doesn't use `Process`, which detects the child's exit through a socket. If a server started by another test
  /// inherits that socket, `Process` misses the exit.
  enum Shell {
    /// Returns the script's exit status, which is 0 on success.
    static func run(_ script: String) -> Int32 {
      let words: [String] = ["/bin/sh", "-c", script]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
      arguments.append(nil)
      defer { for argument in arguments { free(argument) } }
      var child = pid_t()
      guard posix_spawn(&child, "/bin/sh", nil, nil, &arguments, nil) == 0 else { return -1 }
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      return status
    }
  }
#endif
