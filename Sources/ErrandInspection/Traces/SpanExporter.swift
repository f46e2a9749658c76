public import Errand
public import ErrandFoundation

/// Exports the spans of a ``SpanRecorder``.
public struct SpanExporter: Sendable {
  let form: SpanBatch.Form
  /// Exports a batch and returns the number of rejected spans.
  let export: @Sendable (_ batch: SpanBatch) async throws -> Int

  /// Passes each batch to `take`. If `take` throws, the batch is lost.
  public static func spans(_ take: @escaping @Sendable ([RecordedSpan]) async throws -> Void) -> SpanExporter {
    SpanExporter(form: .values) { batch in
      try await take(batch.spans)
      return 0
    }
  }

  /// Appends each batch to a file as a line of OTLP/JSON. The file is created with mode 0600, and missing folders with
  /// mode 0700. Symbolic links and other users' files are rejected.
  public static func file(_ file: URL) -> SpanExporter {
    SpanExporter(form: .line) { batch in
      try SpanFile(file).append(batch.bytes)
      return 0
    }
  }

  /// Posts each batch as OTLP/JSON to the path `v1/traces` of the collector.
  ///
  /// Batches are sent by a server without observers, so exporting does not create spans. If the collector does not
  /// respond, or responds with 429, 502, 503 or 504, the batch is retried, up to five attempts in total. The delay
  /// follows the collector's `Retry-After`, if any. By default, plain http is allowed only for loopback addresses.
  ///
  /// - Parameters:
  ///   - remote: The collector's address, such as `https://collector.example:4318`.
  ///   - headers: The header fields to send with every batch, such as an API key.
  ///   - allowsPlainHTTP: Whether spans can be sent over plain http to another machine.
  ///   - manager: The manager that sends the batches and provides the clock. Defaults to a new manager, whose calls are
  ///     not counted by `NetworkActivity.all`.
  /// - Returns: The exporter.
  public static func collector(
    _ remote: Remote, headers: HTTPHeaders = [:], allowsPlainHTTP: Bool = false,
    manager: TaskManager? = nil
  ) -> SpanExporter {
    let manager = manager ?? Self.manager()
    var settings = ServerConfiguration()
    settings.standardHeaders = headers
    settings.propagatesTraces = false
    settings.cookiePolicy = .none
    settings.redirectPolicy = .refuse
    settings.defaultTimeout = .seconds(10)
    settings.maximumBodySize = largestAnswer
    settings.maximumErrorBodySize = largestAnswer
    settings.log = .discard
    settings.retryPolicy = .attempts(5)
    settings.retryPolicy.statuses = [.tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout]
    if allowsPlainHTTP, let host = remote.url?.host() { settings.insecureHosts = [host] }
    let server = Server(
      remote, configuration: settings, manager: manager, asDefault: false, environment: [:])
    return SpanExporter(form: .request) { batch in
      do {
        return ExportAnswer.rejected(try await ExportTask(server: server, body: Data(batch.bytes)).downloadData())
      } catch let error as TaskError where error.code == .bodyTooLarge {
        return 0  // the collector has accepted the batch
      }
    }
  }

  /// The maximum size of a collector's response, in bytes.
  private static let largestAnswer = 64 << 10

  static func manager() -> TaskManager { TaskManager(uncounted: ThrottleLimits(), .unlimited, .continuous, .system) }
}

/// Sends a batch to a collector. Safe to resend, because span IDs identify duplicates.
private struct ExportTask: ServerPOSTTask, UnrecordedTask {
  let server: Server
  let body: Data

  var path: String { "v1/traces" }
  var idempotency: Idempotency { .safeToRepeat }
  var echoStyle: EchoStyle { .none }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .bytes(body, type: .json) }
}

/// A collector's response, which can report rejected spans.
private struct ExportAnswer: Decodable {
  struct PartialSuccess: Decodable {
    let rejectedSpans: JSONValue?
  }

  let partialSuccess: PartialSuccess?

  /// The number of rejected spans. 0 if the response does not report any.
  static func rejected(_ answer: Data) -> Int {
    // Ignore a response that can't be decoded.
    guard let count = try? JSONDecoder().decode(ExportAnswer.self, from: answer).partialSuccess?.rejectedSpans else {
      return 0
    }
    return switch count {
    case .string(let text): Int(text) ?? 0  // OTLP/JSON encodes 64-bit integers as strings
    case .integer(let number): Int(number)
    default: 0
    }
  }
}

private struct SpanFile {
  let file: URL

  init(_ file: URL) { self.file = file }

  func append(_ bytes: [UInt8]) throws {
    do {
      try PrivateFolder.make(file.deletingLastPathComponent())
    } catch {
      throw TaskError(
        .fileNotWritable,
        "can't write spans to \(file.path): its folder cannot be created: \((error as? TaskError)?.reason ?? "\(error)")",
        phase: .finishing, underlying: error)
    }
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { Descriptor.release(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      throw TaskError(
        .fileNotWritable, "can't write spans to \(file.path): it is not a regular file owned by this user",
        phase: .finishing)
    }
    if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw failure(errno) }
    let count = bytes.withUnsafeBytes { Descriptor.count(putting: $0, into: descriptor) }
    guard count == bytes.count else {
      let (number, end) = (errno, lseek(descriptor, 0, SEEK_CUR))
      // Undo a partial write, unless another process has appended to the file.
      if fstat(descriptor, &status) == 0, status.st_size == end { ftruncate(descriptor, end - off_t(count)) }
      throw failure(number)
    }
  }

  private func failure(_ number: Int32) -> TaskError {
    TaskError(
      .fileNotWritable, "can't write spans to \(file.path): \(String(cString: strerror(number)))", phase: .finishing)
  }
}
