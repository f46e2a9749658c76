import Errand
import ErrandFoundation
import ErrandTesting
import ErrandTransfers

/// Adds numbered tasks to the queue in the `--file` folder, starting with `--first`, and delivers them to `--url`.
/// Prints each number once its task has been stored. Intended to be killed while it runs. With `--requests` 1, it
/// doesn't add any tasks and exits when all have been delivered.
struct QueueSendScenario: Scenario {
  struct Number: PersistentTask, ServerPOSTTask, PayloadUploadingTask {
    static let typeName = "number"
    var uploadPayload: Int
    var path: String { "numbers" }
  }

  static let keys = 4

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let folder = options.file else { throw BenchError("queue-send needs --file") }
    let queue = try OfflineQueue(in: folder, on: try options.server(), types: [Number.self])
    if options.requests == 1 {
      while await !queue.waiting.isEmpty { try await queue.deliver() }
      return Done()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await queue.run { _ in } }
      for number in options.first..<Int.max {
        try await queue.add(Number(uploadPayload: number), key: "\(number % Self.keys)")
        LogOutput.standardOutput.write("\(number)")
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    return Done()
  }

  private struct Done: BenchReport {
    let description = #"{"client":"errand","scenario":"queue-send"}"#
  }
}

/// Kills a program that stores and delivers tasks, at `--requests` random moments (default 200). Exits with 1 if a task
/// is lost, arrives with two different keys or arrives out of order.
struct QueueKillScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 200

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let report = Shared(QueueKillReport())
    let mock = try MockServer(keeping: 0)
    mock.route(.post, "/numbers") { request in
      let number = Int(String(decoding: request.body, as: UTF8.self)) ?? -1
      let key = request.headers[.idempotencyKey] ?? ""
      report.withLock { $0.note(number, key) }
      // Some requests are processed but their response is lost, and some responses are delayed.
      return switch Int.random(in: 0..<20) {
      case 0: .drop
      case 1: .status(.created).after(.milliseconds(20))
      default: .status(.created)
      }
    }
    func start(first: Int, requests: Int) throws -> ChildProcess {
      let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
      return try ChildProcess([
        program, "queue-send", "--url", mock.url.absoluteString, "--file", folder.path, "--first", "\(first)",
        "--requests", "\(requests)",
      ])
    }
    var next = 1
    for _ in 0..<options.requests {
      let child = try start(first: next, requests: 2)
      try await Task.sleep(for: .milliseconds(.random(in: 20...200)))
      try child.kill()
      let said = child.allOutput().split(separator: "\n").compactMap { Int($0) }
      report.withLock { report in
        report.kills += 1
        report.kept.formUnion(said)
      }
      next = (said.last ?? next) + 2  // the next task may have been stored without being reported
    }
    guard try start(first: 0, requests: 1).wait() == 0 else { throw BenchError("some tasks were not delivered") }
    return report.withLock { $0 }
  }
}

/// The stored and received tasks, as one line of JSON.
struct QueueKillReport: BenchReport {
  var kills = 0
  /// The numbers of the tasks that the queue has reported as stored.
  var kept: Set<Int> = []
  /// The keys by number. There must be exactly one key for each.
  private var keys: [Int: Set<String>] = [:]
  private var numbers: [String: Int] = [:]
  private var last: [Int: Int] = [:]
  private var disorder = 0
  private var again = 0

  mutating func note(_ number: Int, _ key: String) {
    keys[number, default: []].insert(key)
    guard numbers.updateValue(number, forKey: key) == nil else {
      again += 1  // already processed; the server answers as before
      return
    }
    let line = number % QueueSendScenario.keys
    if number < last[line, default: 0] { disorder += 1 }
    last[line] = number
  }

  var failures: [String] {
    let lost = kept.subtracting(keys.keys).count
    let twice = keys.values.count { $0.count > 1 }
    return [
      kept.isEmpty ? "no task was stored" : nil, lost > 0 ? "\(lost) tasks were lost" : nil,
      twice > 0 ? "\(twice) tasks arrived with two keys" : nil, disorder > 0 ? "\(disorder) arrived out of order" : nil,
    ].compactMap(\.self)
  }

  var description: String {
    #"{"client":"errand","scenario":"queue-kill","kills":\#(kills),"kept":\#(kept.count),"delivered":\#(keys.count),"#
      + #""sentAgain":\#(again),"outOfOrder":\#(disorder)}"#
  }
}
