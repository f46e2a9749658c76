import Errand
import ErrandTesting
import Foundation

/// A remote with one file, of which it sends parts; its answers break off where they are told to.
final class RangeShop: Sendable {
  struct GetFile: ServerGETTask {
    var server: Server
    var path = "file"
  }

  struct File: Sendable {
    var data: Data
    var tag: String?
    /// Fields of every response.
    var extra: HTTPHeaders = [:]
    var takesRanges = true
    /// The number of bytes after which the next answers break off, in order.
    var cuts: [Int] = []
    /// Answers that come first.
    var first: [MockAnswer] = []
  }

  let mock: MockServer
  let server: Server
  let file: Shared<File>

  init(_ data: Data = RangeShop.bytes(100_000), tag: String? = #""one""#, retry: RetryPolicy = .patient) throws {
    mock = try MockServer()
    let file = Shared(File(data: data, tag: tag))
    self.file = file
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.retryPolicy = retry
    server = Server(
      remote: Remote(mock.url), configuration: configuration,
      manager: TaskManager(retryBudget: RetryBudget(capacity: 1)))
    mock.route("/*") { request in
      file.withLock { file in
        if !file.first.isEmpty { return file.first.removeFirst() }
        return Self.answer(request, &file)
      }
    }
  }

  /// Bytes of which no two parts are the same.
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

  /// The ranges that were asked for, in order; "" for the whole.
  var ranges: [String] { mock.requests.map { $0.headers[.range] ?? "" } }

  private static func answer(_ request: MockRequest, _ file: inout File) -> MockAnswer {
    var offset: Int?
    if file.takesRanges, let range = request.headers[.range], let first = Int(range.dropFirst(6).dropLast()),
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
    let body = file.data.dropFirst(offset ?? 0)
    if let offset { lines[.contentRange] = "bytes \(offset)-\(file.data.count - 1)/\(file.data.count)" }
    let cut = file.cuts.isEmpty ? body.count : file.cuts.removeFirst()
    return raw(offset == nil ? "200 OK" : "206 Partial Content", lines, body, sent: min(cut, body.count))
  }

  /// A response of which so many bytes are sent.
  static func raw(_ status: String, _ headers: HTTPHeaders, _ body: Data, sent: Int) -> MockAnswer {
    var text = "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.count)\r\n"
    for field in headers { text += "\(field.name): \(field.value)\r\n" }
    return .raw(Data("\(text)\r\n".utf8) + body.prefix(sent))
  }
}

extension RetryPolicy {
  /// As often as the standard, at once.
  static var patient: RetryPolicy { .fixed(retries: 2, delay: .zero) }
}
