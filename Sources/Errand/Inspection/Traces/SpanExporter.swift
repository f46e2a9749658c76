public import ErrandFoundation

/// Takes the spans of a ``SpanRecorder``.
public struct SpanExporter: Sendable {
  /// The form in which it takes spans.
  let form: SpanBatch.Form
  /// Hands over a batch; returns how many of it were refused.
  let export: @Sendable (_ batch: SpanBatch) async throws -> Int

  /// Hands each batch to `take`; what it throws loses the batch.
  public static func spans(_ take: @escaping @Sendable ([RecordedSpan]) async throws -> Void) -> SpanExporter {
    SpanExporter(form: .values) { batch in
      try await take(batch.spans)
      return 0
    }
  }

  /// Adds a line of OTLP/JSON for each batch to a file, which is made, 0600, where it is not there. A folder that is missing is made,
  /// 0700; a link, or a file of another user, is refused.
  public static func file(_ file: URL) -> SpanExporter {
    SpanExporter(form: .line) { batch in
      try SpanFile(file).append(batch.bytes)
      return 0
    }
  }

  /// Posts each batch as OTLP/JSON to `v1/traces` below the address of a collector.
  ///
  /// Batches are sent by a server without observers, so that exporting makes no spans. One that is answered with 429, 502, 503 or 504, or
  /// not at all, is sent again, up to five times in all, after `Retry-After` where the collector asks for that. Plain http is for
  /// loopback addresses, unless it is allowed.
  ///
  /// - Parameters:
  ///   - remote: The address, as `https://collector.example:4318`.
  ///   - headers: Sent with every batch, as a key.
  ///   - allowsPlainHTTP: Whether spans may go over plain http to another machine.
  ///   - manager: By whose clock it waits; one of its own unless given, whose calls ``NetworkActivity/all`` does not count.
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
    let server = ServerDefault.leavingDefault { [settings] in
      Server(remote: remote, configuration: settings, manager: manager, environment: [:])
    }
    return SpanExporter(form: .request) { batch in
      do {
        return ExportAnswer.rejected(try await ExportTask(server: server, body: Data(batch.bytes)).downloadData())
      } catch let error as TaskError where error.code == .bodyTooLarge {
        return 0  // the collector has accepted the batch
      }
    }
  }

  /// The maximum number of bytes that are read of a collector's answer.
  private static let largestAnswer = 64 << 10

  /// The manager of exports, which do not count as network activity.
  static func manager() -> TaskManager { TaskManager(uncounted: ThrottleLimits(), .unlimited, .continuous, .system) }
}

/// A batch on its way to a collector. A span that comes twice is one: its identifier says so.
private struct ExportTask: ServerPOSTTask, UnrecordedTask {
  let server: Server
  let body: Data

  var path: String { "v1/traces" }
  var idempotency: Idempotency { .safeToRepeat }
  var echoStyle: EchoStyle { .none }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .bytes(body, type: .json) }
}

/// A collector's answer, which may say that it has refused some spans.
private struct ExportAnswer: Decodable {
  struct PartialSuccess: Decodable {
    let rejectedSpans: JSONValue?
  }

  let partialSuccess: PartialSuccess?

  /// The number of the spans that were refused; 0 where the answer does not say.
  static func rejected(_ answer: Data) -> Int {
    // What cannot be read says nothing.
    guard let count = try? JSONDecoder().decode(ExportAnswer.self, from: answer).partialSuccess?.rejectedSpans else {
      return 0
    }
    return switch count {
    case .string(let text): Int(text) ?? 0  // numbers of 64 bits are texts
    case .integer(let number): Int(number)
    default: 0
    }
  }
}

/// A file of spans.
private struct SpanFile {
  let file: URL

  init(_ file: URL) { self.file = file }

  func append(_ bytes: [UInt8]) throws {
    do {
      try PrivateFolder.make(file.deletingLastPathComponent())
    } catch {
      throw TaskError(
        .fileNotWritable,
        "can't write spans to \(file.path): its folder cannot be made: \((error as? TaskError)?.reason ?? "\(error)")",
        phase: .finishing, underlying: error)
    }
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { Descriptor.release(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      throw TaskError(
        .fileNotWritable, "can't write spans to \(file.path): it is no plain file of this user's", phase: .finishing)
    }
    if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw failure(errno) }
    let count = bytes.withUnsafeBytes { Descriptor.count(putting: $0, into: descriptor) }
    guard count == bytes.count else {
      let (number, end) = (errno, lseek(descriptor, 0, SEEK_CUR))
      // All lines or none, unless another process has written behind them.
      if fstat(descriptor, &status) == 0, status.st_size == end { ftruncate(descriptor, end - off_t(count)) }
      throw failure(number)
    }
  }

  private func failure(_ number: Int32) -> TaskError {
    TaskError(
      .fileNotWritable, "can't write spans to \(file.path): \(String(cString: strerror(number)))", phase: .finishing)
  }
}
