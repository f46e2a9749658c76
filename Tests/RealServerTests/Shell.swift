#if os(Linux)
  import Foundation
  import Glibc

  /// Runs a short script and waits for it.
  ///
  /// Doesn't use `Process`, which detects the child's exit through a socket. If a server started by another test
  /// inherits that socket, `Process` misses the exit.
  enum Shell {
    /// Returns the script's exit status, which is 0 on success. Blocks the thread.
    static func runAndBlock(_ script: String) -> Int32 {
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

    /// Waits on a separate thread, because tests run on only two threads.
    static func run(_ script: String) async -> Int32 {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: runAndBlock(script)) }
      }
    }
  }
#endif
