import Errand
import ErrandFoundation
import ErrandTesting

/// Uploads a file of `--concurrency` MiB (default 1024) to tuspyserver. The uploading process is killed at `--requests`
/// random moments (default 50), and its connections are cut equally often. Repeats the upload as necessary. Exits with
/// 1 if a stored byte is wrong, more than one chunk per kill or cut is sent twice, or memory exceeds 40 MB.
struct UploadKillScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 50
  let defaultConcurrency = 1024

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    let file = folder.appendingPathComponent("files/large")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    try RandomFile.write(options.concurrency << 20, to: file)
    signal(SIGPIPE, SIG_IGN)  // the relay may write to killed processes
    let tus = try TusServer(in: folder)
    defer { tus.stop() }
    let report = Shared(UploadKillReport(megabytes: options.concurrency))
    let relay = try CuttingRelay(to: tus.port) { connection, bytes in
      report.withLock { $0.note(connection, bytes) }
    }
    var random = SeededGenerator(seed: UInt64(options.seed))
    while report.withLock({ $0.kills < options.requests || $0.cuts < options.requests }) {
      try await trial(file, relay, options.requests, report, &random)
      // If a process is killed after its last response, the next process starts over, and there are two complete files.
      let stored = try tus.files()
      guard !stored.isEmpty, try stored.allSatisfy({ try RandomFile.isSame(file, $0) }) else {
        throw BenchError("the server's files are wrong; their sizes are \(stored.map(\.byteCount))")
      }
      report.withLock { $0.files += stored.count }
      try tus.clear()
      let left = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
      guard left == ["large"] else { throw BenchError("\(left) were left behind") }
    }
    return report.withLock { $0 }
  }

  /// Runs one upload from start to end.
  private func trial(
    _ file: URL, _ relay: CuttingRelay, _ most: Int, _ report: Shared<UploadKillReport>, _ random: inout SeededGenerator
  ) async throws {
    var child = try start(file, relay)
    report.withLock { $0.uploads += 1 }
    while true {
      try await Task.sleep(for: .milliseconds(.random(in: 20...250, using: &random)))
      let peak = child.peakMegabytes
      report.withLock { $0.peakMegabytes = max($0.peakMegabytes, peak) }
      if let code = child.ended() {
        guard code == 0 else { throw BenchError("an upload process exited with code \(code)") }
        return
      }
      let (kills, cuts) = report.withLock { ($0.kills, $0.cuts) }
      if kills <= cuts, kills < most {
        if let code = child.killed() {
          guard code == 0 else { throw BenchError("an upload process exited with code \(code)") }
          return
        }
        report.withLock { $0.kills += 1 }
        child = try start(file, relay)
      } else if cuts < most, relay.cut() {
        report.withLock { $0.cuts += 1 }
      }
    }
  }

  private func start(_ file: URL, _ relay: CuttingRelay) throws -> ChildProcess {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return try ChildProcess([
      program, "upload-put", "--url", "http://127.0.0.1:\(relay.port)/files/", "--file", file.path,
      "--concurrency", "\(UploadKillReport.piece >> 20)",
    ])
  }
}

/// The results, as one line of JSON.
struct UploadKillReport: BenchReport {
  /// The size of a chunk. The last chunk has up to 2,500 more bytes.
  static let piece = 8 << 20

  let megabytes: Int
  var uploads = 0
  /// The number of complete files on the server.
  var files = 0
  var kills = 0
  var cuts = 0
  var pieces = 0
  /// The total number of bytes that were sent twice.
  var resent = 0
  /// The maximum number of bytes that were sent twice after one interruption.
  var mostResent = 0
  var peakMegabytes = 0.0
  /// The end positions of connections that are sending a chunk.
  private var positions: [Int: Int] = [:]
  /// The upload's furthest position.
  private var furthest = 0

  init(megabytes: Int) { self.megabytes = megabytes }

  /// Records what a client sends. Each request starts in a new read, because the previous response has arrived.
  mutating func note(_ connection: Int, _ bytes: ArraySlice<UInt8>) {
    let isChunk = bytes.starts(with: "PATCH ".utf8)
    if isChunk || bytes.starts(with: "HEAD ".utf8) || bytes.starts(with: "POST ".utf8) {
      let text = String(decoding: bytes.prefix(8192), as: UTF8.self)
      let head = text.firstRange(of: "\r\n\r\n").map { text[..<$0.upperBound] } ?? text[...]
      let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("upload-offset: ") }
      positions[connection] = isChunk ? line.flatMap { Int($0.dropFirst(15)) } : nil
      if let offset = positions[connection] {
        pieces += 1
        resent += max(0, furthest - offset)
        mostResent = max(mostResent, furthest - offset)
        positions[connection] = offset + bytes.count - head.utf8.count
      }
      if bytes.starts(with: "POST ".utf8) { (furthest, positions) = (0, [:]) }
    } else {
      positions[connection]? += bytes.count
    }
    furthest = max(furthest, positions[connection] ?? 0)
  }

  var failures: [String] {
    [
      mostResent > Self.piece + 2500 ? "\(mostResent) bytes were sent twice after one interruption" : nil,
      resent > (kills + cuts) * (Self.piece + 2500) ? "\(resent) bytes were sent twice" : nil,
      peakMegabytes > 40 ? "memory reached \(peakMegabytes) MB (limit: 40)" : nil,
    ].compactMap(\.self)
  }

  var description: String {
    #"{"client":"errand","scenario":"upload-kill","megabytes":\#(megabytes),"uploads":\#(uploads),"files":\#(files),"kills":\#(kills),"#
      + #""cuts":\#(cuts),"pieces":\#(pieces),"bytesResent":\#(resent),"mostResent":\#(mostResent),"#
      + #""peakResidentMegabytes":\#(peakMegabytes)}"#
  }
}
