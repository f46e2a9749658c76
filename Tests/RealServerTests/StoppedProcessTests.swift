#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// A process that is stopped for longer than its timeouts of 500 ms.
  @Suite(.timeLimit(.minutes(2)))
  struct StoppedProcessTests {
    /// Suspends a program while it waits for the answer, resumes it, and returns its exit code.
    private func codeAfterStop(_ answer: MockAnswer, isCall: Bool = false) async throws -> Int32? {
      let isAsked = Shared(false)
      let mock = try MockServer()
      mock.route("/slow") { _ in
        isAsked.withLock { $0 = true }
        return answer
      }
      let program = try BenchProgram([
        "stopped", "--url", mock.url.appendingPathComponent("slow").absoluteString, "--requests", isCall ? "2" : "1",
      ])
      #expect(await eventually(within: .seconds(30)) { isAsked.withLock { $0 } })
      program.stop()
      try await Task.sleep(for: .milliseconds(800))
      program.resume()
      return await program.wait()
    }

    @Test(
      arguments: [
        MockAnswer.text("hello").after(.milliseconds(200)),
        .text(String(repeating: "x", count: 60_000)).bodyAfter(.milliseconds(200)),
        .chunked([Data("one".utf8), Data("two".utf8)]).after(.milliseconds(200)),
      ], [false, true])
    func `a response that arrives while the process is stopped takes precedence over a timeout`(
      answer: MockAnswer, isCall: Bool
    ) async throws {
      #expect(try await codeAfterStop(answer, isCall: isCall) == 0)
    }

    @Test(arguments: [false, true])
    func `a timeout that expires while the process is stopped ends an unanswered call`(isCall: Bool) async throws {
      #expect(try await codeAfterStop(.text("late").after(.seconds(20)), isCall: isCall) == 3)
    }
  }
#endif
