import Errand
import ErrandTesting
import ErrandTransfers
import Foundation

/// A mock server for all three upload protocols that has one upload at a time.
final class UploadShop: Sendable {
  struct AddFile: ServerPOSTTask {
    var server: Server
    var path = "files"
    var headers: HTTPHeaders = [:]
  }

  struct Upload: Sendable {
    var data = Data()
    var isThere = false
    var isFinal = false
    /// The length sent by the client, or `nil` until then.
    var length: Int?
    /// Headers of the response that creates an upload.
    var beginning: HTTPHeaders = [:]
    /// Headers of the response to OPTIONS.
    var offer: HTTPHeaders = [:]
    /// Responses to the next requests except HEAD. For `nil`, the server accepts half of the chunk and drops the
    /// connection.
    var script: [MockAnswer?] = []
  }

  let mock: MockServer
  let server: Server
  let upload = Shared(Upload())

  init(retry: RetryPolicy = .patient, clock: CallClock = .continuous, budget: RetryBudget = .standard) throws {
    mock = try MockServer()
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.retryPolicy = retry
    server = Server(
      Remote(mock.url), configuration: configuration,
      manager: TaskManager(retryBudget: budget, clock: clock))
    let (url, upload) = (mock.url, upload)
    mock.route("/files") { request in
      upload.withLock { Self.begin(request, &$0, url) }
    }
    mock.route("/files/1") { request in
      upload.withLock { upload in
        if request.method != .head, !upload.script.isEmpty {
          if let answer = upload.script.removeFirst() { return answer }
          upload.data.append(request.body.prefix(request.body.count / 2))
          return .drop
        }
        if request.headers.contains("Tus-Resumable") { return Self.tus(request, &upload) }
        return request.headers.contains("Upload-Draft-Interop-Version")
          ? Self.ietf(request, &upload) : Self.google(request, &upload)
      }
    }
  }

  private static func begin(_ request: MockRequest, _ upload: inout Upload, _ url: URL) -> MockAnswer {
    if request.method == .options { return .status(.noContent, headers: upload.offer) }
    (upload.data, upload.isThere, upload.isFinal) = (Data(), true, false)
    upload.length = (request.headers["Upload-Length"] ?? request.headers["X-Goog-Upload-Content-Length"]).flatMap {
      Int($0)
    }
    var headers = upload.beginning
    guard request.headers["X-Goog-Upload-Command"] == "start" else {
      headers[.location] = "/files/1"
      return .status(.created, headers: headers)
    }
    headers["X-Goog-Upload-URL"] = "\(url)/files/1"
    headers["X-Goog-Upload-Status"] = "active"
    return .status(.ok, headers: headers)
  }

  private static func tus(_ request: MockRequest, _ upload: inout Upload) -> MockAnswer {
    guard upload.isThere else { return .status(.notFound) }
    if request.method == .delete {
      upload.isThere = false
      return .status(.noContent)
    }
    if request.method == .patch {
      guard request.headers["Upload-Offset"] == "\(upload.data.count)" else {
        return .status(.conflict)
      }
      upload.data.append(request.body)
      if let length = request.headers["Upload-Length"].flatMap({ Int($0) }) { upload.length = length }
      return .status(.noContent, headers: ["Upload-Offset": "\(upload.data.count)"])
    }
    return .status(.ok, headers: ["Upload-Offset": "\(upload.data.count)"])
  }

  private static func ietf(_ request: MockRequest, _ upload: inout Upload) -> MockAnswer {
    guard upload.isThere else { return .status(.notFound) }
    if request.method == .delete {
      upload.isThere = false
      return .status(.noContent)
    }
    if request.method == .patch {
      guard request.headers["Upload-Offset"] == "\(upload.data.count)",
        request.headers[.contentType] == "application/partial-upload"
      else { return .status(.conflict) }
      upload.data.append(request.body)
      upload.isFinal = request.headers["Upload-Complete"] == "?1"
      if upload.isFinal { upload.length = upload.data.count }
      return .status(upload.isFinal ? .ok : .noContent, headers: ["Upload-Complete": upload.isFinal ? "?1" : "?0"])
    }
    return .status(
      .noContent,
      headers: ["Upload-Complete": upload.isFinal ? "?1" : "?0", "Upload-Offset": "\(upload.data.count)"])
  }

  private static func google(_ request: MockRequest, _ upload: inout Upload) -> MockAnswer {
    let command = request.headers["X-Goog-Upload-Command"] ?? ""
    upload.data.append(request.body)
    if command.hasSuffix("finalize") { upload.isFinal = true }
    return .status(
      .ok,
      headers: [
        "X-Goog-Upload-Status": command == "cancel"
          ? "cancelled" : upload.isFinal ? "final" : "active",
        "X-Goog-Upload-Size-Received": "\(upload.data.count)",
      ])
  }

  /// The command or method, offset and length of each request after the first.
  var lines: [String] {
    mock.requests.dropFirst().map { request in
      let command = request.headers["X-Goog-Upload-Command"] ?? request.method.rawValue
      let offset = request.headers["X-Goog-Upload-Offset"] ?? request.headers["Upload-Offset"]
      return "\(command) \(offset ?? "-") \(request.bodyLength)"
    }
  }

  func upload(_ file: URL, by dialect: some UploadDialect, chunk: Int = 75_000) -> ResumableUpload {
    ResumableUpload(of: file, with: AddFile(server: server), by: dialect, chunkSize: chunk)
  }

  /// Returns an upload of bytes, by default without a known length.
  func upload(_ data: Data, by dialect: some UploadDialect, length: Int64? = nil, chunk: Int = 75_000)
    -> ResumableUpload
  {
    ResumableUpload(
      named: "log.txt", length: length, with: AddFile(server: server), by: dialect, chunkSize: chunk
    ) { offset, count in Data(data.dropFirst(Int(offset)).prefix(count)) }
  }
}

/// Runs `body` with a file of `size` bytes in its own folder.
func withUpload(_ size: Int, _ body: (URL, Data) async throws -> Void) async throws {
  try await withFolder { folder in
    let file = folder.appendingPathComponent("file.txt")
    let data = RangeShop.bytes(size)
    try data.write(to: file)
    try await body(file, data)
  }
}
