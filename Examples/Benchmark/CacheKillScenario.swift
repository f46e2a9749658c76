import Errand
import ErrandFoundation

/// Kills processes that write to a disk cache, two at a time, `--requests` times (default 200), and reads the files
/// that they leave behind. Exits with 1 if a byte is missing or wrong, or if a temporary file is never removed.
struct CacheKillScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 200
  let defaultConcurrency = 1

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let load = try CacheLoad(folder, seed: 1 << 20)
    var report = CacheKillReport()
    var processes = [try start(folder, seed: 1), try start(folder, seed: 2)]
    for number in 0..<options.requests {
      try await Task.sleep(for: .milliseconds(.random(in: 10...150)))
      for key in 0..<CacheLoad.keys where try await load.check(key) { report.reads += 1 }
      try processes.removeFirst().kill()
      report.kills += 1
      processes.append(try start(folder, seed: number + 3))
    }
    for process in processes { try process.kill() }
    let cache = try DiskCache(at: folder, sizeLimit: 16 << 20)
    await cache.trim()
    for key in 0..<CacheLoad.keys where try await load.check(key) { report.reads += 1 }
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    report.leftOver = names.count { $0.hasSuffix(".part") || $0.hasSuffix(".hart") }
    return report
  }

  private func start(_ folder: URL, seed: Int) throws -> ChildProcess {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let words = ["cache-write", "--file", folder.path, "--seed", "\(seed)", "--requests", "1000000000"]
    return try ChildProcess([program] + words)
  }
}

/// The results after killing the processes, as one line of JSON.
struct CacheKillReport: BenchReport {
  var kills = 0
  var reads = 0
  var leftOver = 0

  var failures: [String] {
    [reads == 0 ? "nothing was ever stored" : nil, leftOver > 0 ? "\(leftOver) partial files are left" : nil]
      .compactMap(\.self)
  }

  var description: String {
    #"{"client":"errand","scenario":"cache-kill","kills":\#(kills),"reads":\#(reads),"leftOver":\#(leftOver)}"#
  }
}
