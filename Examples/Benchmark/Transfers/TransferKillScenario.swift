import Errand
import ErrandFoundation
import ErrandTesting

/// Downloads a file of `--concurrency` MiB (default 1024) from nginx in `--ranges` concurrent ranges. The downloading
/// process is killed at `--requests` random moments (default 50), and its connections are cut equally often. Repeats
/// the download as necessary. Exits with 1 if a byte is wrong, more than 1% of the bytes are requested twice, or
/// memory exceeds 40 MB.
struct TransferKillScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 50
  let defaultConcurrency = 1024

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    let place = folder.appendingPathComponent("downloads/large")
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let original = folder.appendingPathComponent("large")
    try RandomFile.write(options.concurrency << 20, to: original)
    // The rate is low enough for a hundred interruptions, unless the disk is slower.
    signal(SIGPIPE, SIG_IGN)  // the relay may write to killed processes
    let nginx = try FileServer(serving: folder, bytesPerSecond: (64 << 20) / options.ranges)
    defer { nginx.stop() }
    let report = Shared(TransferKillReport(megabytes: options.concurrency, ranges: options.ranges))
    let part = place.deletingLastPathComponent().appendingPathComponent(".large.errand-part")
    let relay = try CuttingRelay(to: nginx.port) { _, bytes in
      // Count bytes that are already present but requested again.
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.hasPrefix("GET ") else { return }
      report.withLock { $0.note(text, there: PartialRanges(part)) }
    }
    while report.withLock({ $0.kills < options.requests || $0.cuts < options.requests }) {
      try await trial(place, relay, options, report)
      guard try RandomFile.isSame(original, place) else { throw BenchError("the downloaded file is corrupted") }
      try FileManager.default.removeItem(at: place)
      let left = try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path)
      guard left.isEmpty else { throw BenchError("\(left) were left behind") }
    }
    report.withLock { $0.passed = relay.bytesPassed }
    return report.withLock { $0 }
  }

  /// Runs one download from start to end.
  private func trial(
    _ place: URL, _ relay: CuttingRelay, _ options: BenchOptions, _ report: Shared<TransferKillReport>
  ) async throws {
    let most = options.requests
    var child = try start(place, relay, options.ranges)
    report.withLock { $0.downloads += 1 }
    while true {
      try await Task.sleep(for: .milliseconds(.random(in: 20...250)))
      let peak = child.peakMegabytes
      report.withLock { $0.peakMegabytes = max($0.peakMegabytes, peak) }
      if let code = child.ended() {
        guard code == 0 else { throw BenchError("a download process exited with code \(code)") }
        return
      }
      let (kills, cuts) = report.withLock { ($0.kills, $0.cuts) }
      if kills <= cuts, kills < most {
        if let code = child.killed() {
          guard code == 0 else { throw BenchError("a download process exited with code \(code)") }
          return
        }
        report.withLock { $0.kills += 1 }
        child = try start(place, relay, options.ranges)
      } else if cuts < most, relay.cut() {
        report.withLock { $0.cuts += 1 }
      }
    }
  }

  private func start(_ place: URL, _ relay: CuttingRelay, _ ranges: Int) throws -> ChildProcess {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return try ChildProcess([
      program, "transfer-get", "--url", "http://127.0.0.1:\(relay.port)/large", "--file", place.path,
      "--ranges", "\(ranges)",
    ])
  }
}

/// The ranges that a partial file contains while another process writes it.
struct PartialRanges {
  private struct Journal: Decodable {
    struct Parts: Decodable { let parts: [Part] }
    struct Part: Decodable { let start: Int, end: Int, count: Int }
    let ranges: Parts?
  }

  /// The ranges that are present.
  private let there: [Range<Int>]

  init(_ file: URL) {
    let journal = file.deletingLastPathComponent().appendingPathComponent(".large.errand-journal")
    let known = try? JSONDecoder().decode(Journal.self, from: Data(contentsOf: journal))
    guard let parts = known?.ranges?.parts, let total = parts.last?.end else {
      there = [0..<file.byteCount]
      return
    }
    let descriptor = open(file.path, O_RDONLY)
    defer { close(descriptor) }
    there = parts.enumerated().map { index, part in
      var mark = Int64(0)
      let size = pread(descriptor, &mark, 8, off_t(total + index * 8))
      return part.start..<part.start + max(part.count, size == 8 ? Int(Int64(littleEndian: mark)) : 0)
    }
  }

  /// Returns the number of bytes in the range that are present.
  func overlap(_ asked: Range<Int>) -> Int { there.reduce(0) { $0 + $1.clamped(to: asked).count } }
}

/// The results, as one line of JSON.
struct TransferKillReport: BenchReport {
  let megabytes: Int
  let ranges: Int
  var downloads = 0
  var kills = 0
  var cuts = 0
  var requests = 0
  /// The total number of bytes that were present but requested again.
  var resent = 0
  /// The maximum number of such bytes in one request.
  var mostResent = 0
  /// The bytes of all responses, including heads and lost bytes.
  var passed = 0
  var peakMegabytes = 0.0

  init(megabytes: Int, ranges: Int) { (self.megabytes, self.ranges) = (megabytes, ranges) }

  mutating func note(_ request: String, there: PartialRanges) {
    requests += 1
    let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("range: bytes=") }
    let bounds = (line?.dropFirst(13) ?? "0-").split(separator: "-").compactMap { Int($0) }
    let again = there.overlap((bounds.first ?? 0)..<(bounds.dropFirst().first.map { $0 + 1 } ?? .max))
    resent += again
    mostResent = max(mostResent, again)
  }

  private var percentResent: Double { Double(resent) * 100 / Double(max(downloads, 1) * megabytes << 20) }

  var failures: [String] {
    [
      percentResent > 1 ? "\(percentResent) % of the bytes were requested twice" : nil,
      peakMegabytes > 40 ? "memory reached \(peakMegabytes) MB (limit: 40)" : nil,
    ].compactMap(\.self)
  }

  var description: String {
    #"{"client":"errand","scenario":"transfer-kill","megabytes":\#(megabytes),"ranges":\#(ranges),"downloads":\#(downloads),"kills":\#(kills),"#
      + #""cuts":\#(cuts),"requests":\#(requests),"bytesResent":\#(resent),"mostResent":\#(mostResent),"#
      + #""bytesLost":\#(passed - downloads * megabytes << 20),"percentResent":\#(percentResent),"peakResidentMegabytes":\#(peakMegabytes)}"#
  }
}
