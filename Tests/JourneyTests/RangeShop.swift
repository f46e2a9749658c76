import Errand
import ErrandTesting
import ErrandTransfers
import Foundation

/// A mock server with one file that serves ranges and can truncate its answers.
final class RangeShop: Sendable {
  struct GetFile: ServerGETTask {
    var server: Server
    var path = "file"
  }

  struct File: Sendable {
    var data: Data
    var tag: String?
    /// The additional headers of every response.
    var extra: HTTPHeaders = [:]
    var takesRanges = true
    /// The number of bytes after which the next answers are truncated, in order.
    var cuts: [Int] = []
    /// The number of bytes after which an answer is truncated, by start position.
    var cutsAt: [Int: Int] = [:]
    /// Answers sent before any others.
    var first: [MockAnswer] = []
    /// Answers sent first for a range, by its start position.
    var firstAt: [Int: [MockAnswer]] = [:]
    /// Answers sent first to requests for the entire file.
    var wholes: [MockAnswer] = []
    /// The changes to make when a range that starts at a position is requested.
    var changes: [Int: @Sendable (inout File) -> Void] = [:]
  }

  let mock: MockServer
  let server: Server
  let file: Shared<File>

  init(
    _ data: Data = RangeShop.bytes(100_000), tag: String? = #""one""#, retry: RetryPolicy = .patient,
    budget: RetryBudget = RetryBudget(capacity: 1), clock: CallClock = .continuous
  ) throws {
    mock = try MockServer()
    let file = Shared(File(data: data, tag: tag))
    self.file = file
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.retryPolicy = retry
    server = Server(
      Remote(mock.url), configuration: configuration,
      manager: TaskManager(retryBudget: budget, clock: clock))
    mock.route("/*") { request in
      file.withLock { file in
        if !file.first.isEmpty { return file.first.removeFirst() }
        return Self.answer(request, &file)
      }
    }
  }

  /// Returns bytes without a repeating pattern.
  static func bytes(_ count: Int, seed: Int = 1) -> Data {
    var data = Data(capacity: count + 8)
    var number = UInt64(seed)
    while data.count < count {
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      withUnsafeBytes(of: number) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
  }

  func download(to url: URL, path: String = "file", digest: TransferDigest? = nil) -> ResumableDownload {
    ResumableDownload(GetFile(server: server, path: path), to: url, digest: digest)
  }

  /// Returns a download in ranges of at least 10,000 bytes.
  func download(to url: URL, ranges: Int, digest: TransferDigest? = nil) -> ResumableDownload {
    ResumableDownload(GetFile(server: server), to: url, digest: digest, ranges: ranges, smallestRange: 10_000)
  }

  /// The requested ranges in order, or "" for the entire file.
  var ranges: [String] { mock.requests.map { $0.headers[.range] ?? "" } }

  private static func answer(_ request: MockRequest, _ file: inout File) -> MockAnswer {
    let positions = (request.headers[.range]?.dropFirst(6)).map { $0.split(separator: "-").compactMap { Int($0) } }
    if let start = positions?.first {
      file.changes.removeValue(forKey: start)?(&file)
      if let answers = file.firstAt[start], let answer = answers.first {
        file.firstAt[start] = Array(answers.dropFirst())
        return answer
      }
    }
    if positions == nil, !file.wholes.isEmpty { return file.wholes.removeFirst() }
    var offset: Int?
    if file.takesRanges, let first = positions?.first,
      request.headers[.ifRange].map({ $0 == file.tag || $0 == file.extra[.lastModified] }) ?? true
    {
      offset = first
    }
    var lines = file.extra
    if let tag = file.tag { lines[.eTag] = tag }
    if let offset, offset >= file.data.count {
      lines[.contentRange] = "bytes */\(file.data.count)"
      return raw("416 Range Not Satisfiable", lines, Data(), sent: 0)
    }
    let last = positions?.dropFirst().first ?? .max
    let end = offset == nil ? file.data.count : min(file.data.count, last == .max ? .max : last + 1)
    let body = file.data[(file.data.startIndex + (offset ?? 0))..<(file.data.startIndex + end)]
    if let offset { lines[.contentRange] = "bytes \(offset)-\(end - 1)/\(file.data.count)" }
    var cut = file.cuts.isEmpty ? body.count : file.cuts.removeFirst()
    if let offset, let other = file.cutsAt.removeValue(forKey: offset) { cut = other }
    return raw(offset == nil ? "200 OK" : "206 Partial Content", lines, body, sent: min(cut, body.count))
  }

  /// Returns a response with only the first `sent` bytes of its body.
  static func raw(_ status: String, _ headers: HTTPHeaders, _ body: Data, sent: Int) -> MockAnswer {
    var text = "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.count)\r\n"
    for field in headers { text += "\(field.name): \(field.value)\r\n" }
    return .raw(Data("\(text)\r\n".utf8) + body.prefix(sent))
  }
}

extension RetryPolicy {
  /// The retries of the standard policy, without delays.
  static var patient: RetryPolicy { .fixed(retries: 2, delay: .zero) }
}
