import Errand
import ErrandFoundation

/// Uploads a sparse file of 4 GiB as a form part and downloads it again. `--requests` sets the size in MiB. Checks the
/// peak memory, which must not depend on the size.
struct LargeScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 4096

  /// The maximum peak memory in megabytes.
  private static let mostMegabytes = 40.0

  private struct SendFile: ServerPOSTTask, MultipartUploadingTask, PayloadDownloadingTask {
    typealias DownloadPayload = Int
    let file: URL
    let path = "swallow"
    var uploadForm: MultipartForm { MultipartForm([.text("title", "large"), .file("file", file)]) }
  }

  private struct GetFile: ServerGETTask {
    let path: String
  }

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let size = options.requests << 20
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-large-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let file = folder.appendingPathComponent("sparse")
    guard FileManager.default.createFile(atPath: file.path, contents: nil), truncate(file.path, size) == 0 else {
      throw BenchError("\(file.path) can't be created")
    }
    let peer = try RemoteProcess("large-peer")
    defer { peer.stop() }
    let server = Server(Remote(peer.url), transport: try options.transport())
    let start = ContinuousClock.now
    let received = try await SendFile(file: file).on(server).download()
    let sent = ContinuousClock.now
    let copy = folder.appendingPathComponent("copy")
    try await GetFile(path: "\(size)").on(server).download(to: copy)
    let end = ContinuousClock.now
    let copied = copy.byteCount
    return LargeReport(
      size: size, received: received, copied: copied, upSeconds: (sent - start) / .seconds(1),
      downSeconds: (end - sent) / .seconds(1), peakMegabytes: ProcessUsage.now.peakMegabytes,
      mostMegabytes: Self.mostMegabytes)
  }
}

/// The results for a large file.
private struct LargeReport: BenchReport {
  let size: Int
  /// The number of bytes that the peer received: the file and the rest of the form.
  let received: Int
  let copied: Int
  let upSeconds: Double
  let downSeconds: Double
  let peakMegabytes: Double
  let mostMegabytes: Double

  var failures: [String] {
    var failures: [String] = []
    if !(size..<(size + 1000)).contains(received) { failures.append("\(received) of \(size) bytes were received") }
    if copied != size { failures.append("\(copied) of \(size) bytes were downloaded") }
    if peakMegabytes > mostMegabytes { failures.append("the peak memory exceeds \(mostMegabytes) MB") }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"large","bytes":\(size),"upSeconds":\(upSeconds),"downSeconds":\(downSeconds),\
    "peakResidentMegabytes":\(peakMegabytes)}
    """
  }
}
