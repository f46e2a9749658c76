public import Errand
public import ErrandFoundation

/// A transport that replays recorded responses and optionally records missing ones.
///
///     let shop = Server("https://shop.example", transport: try .replay(from: file))  // never sends anything
///     let shop = Server("https://shop.example", transport: try .replay(from: file, recording: .once))
///
/// A recording is an HTTP Archive (HAR 1.2), written by this transport, by `RecordedCalls` or by a browser. It
/// replaces only the network, so retries, redirects, cookies, tokens and the cache work as usual. Requests are compared
/// with their secrets hidden, as in the recording. The nth identical request gets the nth response. A request that has
/// not been recorded fails with code `.notRecorded`. The `TaskError` shows the closest match and how it differs.
///
/// A request that is sent to the network is recorded once its response body has been read to the end. Requests that
/// fail or are cancelled are not recorded. The new recording is written to a temporary file with mode 0600, which
/// replaces the old file when it is complete. Use a file with only one transport at a time.
public final class ReplayTransport: Transport {
  private let tape: Lock<ReplayTape>
  private let options: ReplayOptions
  /// The recorder, and the transport for the requests that it records. `nil` if nothing is sent.
  private let recorder: ReplayRecorder?
  private let live: (any Transport)?

  /// Replays an archive. Nothing is sent or recorded, regardless of the options.
  public init(_ archive: HTTPArchive, options: ReplayOptions = ReplayOptions()) {
    tape = Lock(ReplayTape(archive, options))
    self.options = options
    (recorder, live) = (nil, nil)
  }

  /// Replays recorded calls. Nothing is sent or recorded, regardless of the options.
  public convenience init(_ calls: [RecordedCall], options: ReplayOptions = ReplayOptions()) {
    self.init(HTTPArchive(calls), options: options)
  }

  /// Replays a file and records to it according to the options.
  ///
  /// - Parameters:
  ///   - file: An HTTP Archive.
  ///   - options: The options for recording and replay.
  ///   - transport: The transport for recorded requests. Created only if requests are recorded.
  ///   - log: Receives a line if a body can't be recorded or the file can't be written.
  /// - Throws: `TaskError` with code `.notRecorded` if the file is not an archive, or if it does not exist and
  ///   nothing is recorded.
  public init(
    from file: URL, options: ReplayOptions = ReplayOptions(),
    over transport: @autoclosure () -> any Transport = .platform, log: LogOutput = .standardError
  ) throws {
    let found = options.recording == .all ? nil : try Self.archive(in: file)
    guard found != nil || options.recording != .none else {
      let advice =
        ReplayRecorder.isRecording(into: file)
        ? "another ReplayTransport in this process is still recording it: make its first call, then await finish() on it"
        : "create one with recording: .once"
      throw TaskError(
        .notRecorded, "no recording at \(file.path): \(advice)", phase: .preparing, wasNotSent: true)
    }
    tape = Lock(ReplayTape(found ?? HTTPArchive(entries: []), options))
    self.options = options
    guard options.recording != .none, options.recording != .once || found == nil else {
      (recorder, live) = (nil, nil)
      return
    }
    recorder = ReplayRecorder(into: file, after: found, options, log: log)
    live = transport()
  }

  private static func archive(in file: URL) throws -> HTTPArchive? {
    do {
      guard access(file.path, F_OK) == 0 || errno != ENOENT else { return nil }
      return try HTTPArchive(data: Data(contentsOf: file))
    } catch {
      let reason = PayloadCoding.explain(error)
      throw TaskError(
        .notRecorded, "the recording at \(file.path) cannot be read: \(reason)", phase: .preparing, underlying: error,
        wasNotSent: true)
    }
  }

  /// Whether address policies are enforced. `true` if nothing is sent. Otherwise, depends on the transport used for
  /// recording.
  public var checksAddresses: Bool { live?.checksAddresses ?? true }

  /// Returns the connections of the transport used for recording. Empty if nothing is sent.
  public func connections() async -> [String: ConnectionCounts] { await live?.connections() ?? [:] }

  /// The recorded requests that have not been replayed yet. A test can check that none are left.
  public var unplayed: [HTTPArchive.Entry] { tape.withLock { $0.unplayed } }

  /// Replays the recording from the beginning.
  public func rewind() { tape.withLock { $0.rewind() } }

  /// Waits until everything recorded has been written. Throws `TaskError` with code `.fileNotWritable` if writing
  /// failed, or `CancellationError` if the surrounding task is cancelled.
  public func finish() async throws { try await recorder?.finish() }

  /// Returns the recorded response, or sends the request and records its response.
  ///
  /// Throws `TaskError` with code `.notRecorded` if no response was recorded, or `.connectionLost` if a failure was
  /// recorded. Also throws any error thrown by the transport that sends recorded requests, and `CancellationError` if
  /// the surrounding task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try Task.checkCancellation()
    let body = try await ReplayBody(
      of: request, reads: options.matching.contains(.body), limit: options.maximumBodySize)
    let redaction = options.redaction(for: request)
    let asked = ReplayRequest(
      request.method, request.url.absoluteString, headers: request.headers,
      body: body.compared(type: request.headers.mediaType, redaction), redaction: redaction)
    switch tape.withLock({ $0.answer(to: asked, hiding: redaction) }) {
    case .entry(let entry, let number, let place):
      guard let live, let recorder, entry.missing(for: request.method) != nil else {
        return try entry.played(number, for: request)
      }
      return try await recorder.record(request, body, over: live, inPlaceOf: place)
    case .none(let reason):
      guard let live, let recorder else {
        throw TaskError(.notRecorded, reason, phase: .preparing, wasNotSent: true)
      }
      return try await recorder.record(request, body, over: live)
    }
  }
}

extension HTTPArchive.Entry {
  fileprivate func played(_ number: Int, for request: HTTPRequest) throws -> HTTPResponse {
    guard var response = recordedResponse else {
      throw TaskError(
        .connectionLost, "request \(number) of the recording has no response: \(failure ?? "none arrived")",
        phase: .awaitingResponse)
    }
    response.url = request.url
    if let reason = missing(for: request.method) {
      throw TaskError(
        .notRecorded, "request \(number) of the recording has no response body: \(reason)", phase: .preparing,
        wasNotSent: true)
    }
    if request.method != .head, wasStreamed { response.body = HTTPResponseBody(BrokenBody(failure ?? "")) }
    return response
  }
}

/// A body that fails in the same way as the recorded body.
private final class BrokenBody: HTTPBodySource {
  private let reason: String

  init(_ reason: String) { self.reason = reason }

  func next() async throws -> Data? {
    throw TaskError(.truncatedBody, "the recorded body was cut off: \(reason)", phase: .receiving)
  }
}
