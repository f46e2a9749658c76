#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Offline queues of processes that are killed while they add and deliver tasks.
  @Suite(.timeLimit(.minutes(3)))
  struct KilledQueueTests {
    /// The received task numbers by idempotency key, and the keys received for each number.
    private struct Ledger {
      var keys: [Int: Set<String>] = [:]
      var last: [Int: Int] = [:]
      var disorder = 0
      var count = 0

      mutating func note(_ number: Int, _ key: String) {
        count += 1
        let isNew = keys[number] == nil
        keys[number, default: []].insert(key)
        guard isNew else { return }
        if number < last[number % 4, default: 0] { disorder += 1 }
        last[number % 4] = number
      }
    }

    @Test func `delivers stored tasks in order and with a stable key even if the process is killed`()
      async throws
    {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let (queue, output) = (folder.appendingPathComponent("queue"), folder.appendingPathComponent("output"))
      let ledger = Shared(Ledger())
      let mock = try MockServer(keeping: 0)
      mock.route(.post, "/numbers") { request in
        let number = Int(String(decoding: request.body, as: UTF8.self)) ?? -1
        let count = ledger.withLock { ledger in
          ledger.note(number, request.headers[.idempotencyKey] ?? "")
          return ledger.count
        }
        return count % 7 == 0 ? .drop : .status(.created)  // processes the request, but sends no response
      }
      func words(first: Int, requests: Int) -> [String] {
        [
          "queue-send", "--url", mock.url.absoluteString, "--file", queue.path, "--first", "\(first)", "--requests",
          "\(requests)",
        ]
      }
      var (next, kept) = (1, Set<Int>())
      for round in 1...4 {
        let program = try BenchProgram(words(first: next, requests: 2), output: output)
        // The server receives more than 24 tasks in total. Each of the four kills can prevent the report of one stored
        // task.
        #expect(await program.kill { ledger.withLock { $0.keys.count } > round * 6 })
        let said = try String(contentsOf: output, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        kept.formUnion(said)
        next = (said.last ?? next) + 2  // the next task may have been stored without being reported
      }
      #expect(try await BenchProgram(words(first: 0, requests: 1)).wait() == 0)
      ledger.withLock { ledger in
        #expect(kept.count >= 20 && kept.isSubset(of: ledger.keys.keys))
        #expect(ledger.keys.values.allSatisfy { $0.count == 1 } && ledger.disorder == 0)
      }
    }
  }
#endif
