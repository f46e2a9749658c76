import Errand
import ErrandFoundation
import ErrandTesting

/// Downloads a file of `--concurrency` MiB (1024 unless given) from nginx in a process that is killed at `--requests` random moments (50
/// unless given), over connections that are cut at as many more; as often as it takes. A wrong byte, more than 1 % of them asked for
/// twice, or more than 40 MB of memory make it end with 1.
struct TransferKillScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 50
  let defaultConcurrency = 1024

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    let place = folder.appendingPathComponent("downloads/large")
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // it is below the temporary folder
    let original = folder.appendingPathComponent("large")
    try RandomFile.write(options.concurrency << 20, to: original)
    // Slow enough for a hundred moments, unless the disk is slower.
    signal(SIGPIPE, SIG_IGN)  // the relay writes to programs that were killed
    let nginx = try FileServer(serving: folder, bytesPerSecond: 64 << 20)
    defer { nginx.stop() }
    let report = Shared(TransferKillReport(megabytes: options.concurrency))
    let part = place.deletingLastPathComponent().appendingPathComponent(".large.errand-part")
    let relay = try CuttingRelay(to: nginx.port) { _, bytes in
      // What is there when the rest is asked for, and is asked for again.
      let there = part.byteCount
      report.withLock { $0.note(String(decoding: bytes, as: UTF8.self), there: there) }
    }
    while report.withLock({ $0.kills < options.requests || $0.cuts < options.requests }) {
      try await trial(place, relay, options.requests, report)
      guard try RandomFile.isSame(original, place) else { throw BenchError("the file has wrong bytes") }
      try FileManager.default.removeItem(at: place)
      let left = try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path)
      guard left.isEmpty else { throw BenchError("\(left) is left behind") }
    }
    return report.withLock { $0 }
  }

  /// One download, from nothing to its end.
  private func trial(
    _ place: URL, _ relay: CuttingRelay, _ most: Int, _ report: Shared<TransferKillReport>
  ) async throws {
    var child = try start(place, relay)
    report.withLock { $0.downloads += 1 }
    while true {
      try await Task.sleep(for: .milliseconds(.random(in: 20...250)))
      let peak = child.peakMegabytes
      report.withLock { $0.peakMegabytes = max($0.peakMegabytes, peak) }
      if let code = child.ended() {
        guard code == 0 else { throw BenchError("a download failed, with \(code)") }
        return
      }
      let (kills, cuts) = report.withLock { ($0.kills, $0.cuts) }
      if kills <= cuts, kills < most {
        if let code = child.killed() {
          guard code == 0 else { throw BenchError("a download failed, with \(code)") }
          return
        }
        report.withLock { $0.kills += 1 }
        child = try start(place, relay)
      } else if cuts < most, relay.cut() {
        report.withLock { $0.cuts += 1 }
      }
    }
  }

  private func start(_ place: URL, _ relay: CuttingRelay) throws -> ChildProcess {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return try ChildProcess([
      program, "transfer-get", "--url", "http://127.0.0.1:\(relay.port)/large", "--file", place.path,
    ])
  }
}

/// What came of it, as one line of JSON.
struct TransferKillReport: BenchReport {
  let megabytes: Int
  var downloads = 0
  var kills = 0
  var cuts = 0
  var requests = 0
  /// The bytes that were there and were asked for again: in all, and the most at a time.
  var resent = 0
  var mostResent = 0
  var peakMegabytes = 0.0

  init(megabytes: Int) { self.megabytes = megabytes }

  mutating func note(_ request: String, there: Int) {
    guard request.hasPrefix("GET ") else { return }
    requests += 1
    let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("range: bytes=") }
    let offset = line.flatMap { Int($0.dropFirst(13).dropLast()) } ?? 0
    resent += max(0, there - offset)
    mostResent = max(mostResent, there - offset)
  }

  private var percentResent: Double { Double(resent) * 100 / Double(max(downloads, 1) * megabytes << 20) }

  var failures: [String] {
    [
      percentResent > 1 ? "\(percentResent) % of the bytes were asked for twice" : nil,
      peakMegabytes > 40 ? "\(peakMegabytes) MB of memory" : nil,
    ].compactMap(\.self)
  }

  var description: String {
    #"{"client":"errand","scenario":"transfer-kill","megabytes":\#(megabytes),"downloads":\#(downloads),"kills":\#(kills),"#
      + #""cuts":\#(cuts),"requests":\#(requests),"bytesResent":\#(resent),"mostResent":\#(mostResent),"#
      + #""percentResent":\#(percentResent),"peakResidentMegabytes":\#(peakMegabytes)}"#
  }
}
