#if os(Linux)
  import Foundation
  import Glibc
  import Testing

  /// The tools needed by the server that mutates responses.
  enum FuzzPeer {
    static let isExpected =
      isThere("openssl") && isThere("python3") || ProcessInfo.processInfo.environment["CI"] == "true"

    private static func isThere(_ name: String) -> Bool {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)")
    }
  }

  /// The first mutated responses for a seed, from `errand-bench fuzz`. The program runs in its own process, because a
  /// crash would also end the tests.
  @Suite(.enabled(if: FuzzPeer.isExpected), .timeLimit(.minutes(3)))
  struct FuzzTests {
    /// Mutations that the library doesn't handle yet. Remove a mutation once it does.
    private static let missing = "tls,h2-bytes,h2-frames,h2-control"

    /// Takes 7 s for 480 exchanges, some of which end at a time limit.
    @Test func `no mutated response is accepted as complete or causes a crash, a hang or a mix-up`()
      async throws
    {
      let (status, text) = try await run(
        "fuzz --seed 1 --exchanges 480 --concurrency 2 --without \(Self.missing)")
      #expect(status == 0, "\(text)")
    }

    /// Runs the benchmark program and returns its exit status and output.
    private func run(_ words: String) async throws -> (Int32, String) {
      let program = try #require(
        Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("errand-bench"))
      let output = FileManager.default.temporaryDirectory.appendingPathComponent("errand-fuzz-\(UUID().uuidString).log")
      defer { try? FileManager.default.removeItem(at: output) }  // leftovers are harmless
      let process = try start("exec timeout 120 '\(program.path)' \(words) >'\(output.path)' 2>&1")
      let status = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          var status: Int32 = 0
          while waitpid(process, &status, 0) < 0, errno == EINTR {}
          continuation.resume(returning: status)
        }
      }
      return (status, String(decoding: try Data(contentsOf: output), as: UTF8.self))
    }

    /// Starts a script. Doesn't use `Process`, which detects the child's exit through a socket. If a server started by
    /// another test inherits that socket, `Process` misses the exit.
    private func start(_ script: String) throws -> pid_t {
      let words: [String] = ["/bin/sh", "-c", script]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var process = pid_t()
      try #require(posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0)
      return process
    }
  }
#endif
