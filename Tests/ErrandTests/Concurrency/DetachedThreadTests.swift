import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DetachedThreadTests {
  @Test func `runs the work once on a thread with the given name`() async throws {
    let runs = Lock(0)
    let name: String? = await withUnsafeContinuation { waiter in
      let isStarted = DetachedThread.start("errand-a-test") {
        runs.withLock { $0 += 1 }
        waiter.resume(returning: Self.threadName)
      }
      if !isStarted { waiter.resume(returning: nil) }
    }
    #expect(name == "errand-a-test")
    #expect(runs.withLock { $0 } == 1)
  }

  private static var threadName: String {
    #if os(Linux)
      let line = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      return line?.filter { !$0.isNewline } ?? "unknown"
    #else
      return Thread.current.name ?? "unknown"
    #endif
  }
}
