#if os(Linux)
  import Glibc

  /// Runs a short script to its end.
  ///
  /// Not with `Process`, which takes a socket that the child holds for the sign that it lives: a server that another test
  /// starts meanwhile inherits the socket, and the end is never seen.
  enum Shell {
    /// Returns the script's status: 0 where it succeeded.
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
