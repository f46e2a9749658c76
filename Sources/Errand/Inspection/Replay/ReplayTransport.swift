public import ErrandFoundation

/// A transport that answers from a recording, and perhaps records what is missing there.
///
///     let shop = Server(remote: "https://shop.example", transport: try .replay(from: file))  // never sends anything
///     let shop = Server(remote: "https://shop.example", transport: try .replay(from: file, recording: .once))
///
/// A recording is an HTTP Archive (HAR 1.2): a file of this transport, of ``RecordedCalls`` or of a browser. It is in the place of the network
/// and of nothing else, so that retries, redirects, cookies, tokens and the cache are as they were. Requests are compared with
/// their secrets hidden, as recordings have them; the n-th of the same gets the n-th response. One that was not recorded fails with a
/// ``TaskError`` of code `.notRecorded`, which names the nearest recorded one and what differs.
///
/// What goes to the network is recorded once the body of its response was read to its end, and written beside the file, which it replaces when it is
/// complete, 0600. One that fails, or is cancelled, is not recorded. A file is for one transport at a time.
public final class ReplayTransport: Transport {
  private let tape: Lock<ReplayTape>
  private let options: ReplayOptions
  /// The recorder, and the transport of what it records; nil where nothing is sent.
  private let recorder: ReplayRecorder?
  private let live: (any Transport)?

  /// Plays an archive; nothing is sent, and nothing recorded, whatever the options say.
  public init(_ archive: HTTPArchive, options: ReplayOptions = ReplayOptions()) {
    tape = Lock(ReplayTape(archive, options))
    self.options = options
    (recorder, live) = (nil, nil)
  }

  /// Plays recorded calls; nothing is sent, and nothing recorded, whatever the options say.
  public convenience init(_ calls: [RecordedCall], options: ReplayOptions = ReplayOptions()) {
    self.init(HTTPArchive(calls), options: options)
  }

  /// Plays a file, and records into it what the options say.
  ///
  /// - Parameters:
  ///   - file: An HTTP Archive.
  ///   - options: The use of it.
  ///   - transport: The carrier of what is recorded; made only where something is.
  ///   - log: Gets a line where a body cannot be recorded, or the file cannot be written.
  /// - Throws: ``TaskError`` with code `.notRecorded` for a file that is no archive, or that is not there and is not to be recorded.
  public init(
    from file: URL, options: ReplayOptions = ReplayOptions(),
    over transport: @autoclosure () -> any Transport = .platform, log: TextSink = .standardError
  ) throws {
    let found = options.recording == .all ? nil : try Self.archive(in: file)
    guard found != nil || options.recording != .none else {
      let advice =
        ReplayRecorder.isRecording(into: file)
        ? "another transport of this process records it: await its finish() first, once it has carried a call"
        : "make one with recording: .once"
      throw TaskError(
        .notRecorded, "there is no recording at \(file.path): \(advice)", phase: .preparing, isSurelyNotSent: true)
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

  /// The archive in a file; nil where there is no file.
  private static func archive(in file: URL) throws -> HTTPArchive? {
    do {
      guard access(file.path, F_OK) == 0 || errno != ENOENT else { return nil }
      return try HTTPArchive(data: Data(contentsOf: file))
    } catch {
      let reason = PayloadCoding.explain(error)
      throw TaskError(
        .notRecorded, "the recording at \(file.path) cannot be read: \(reason)", phase: .preparing, underlying: error,
        isSurelyNotSent: true)
    }
  }

  /// True where nothing is sent, and where the transport of what is recorded checks them.
  public var checksAddresses: Bool { live?.checksAddresses ?? true }

  /// Those of the transport of what is recorded.
  public func connections() async -> [String: ConnectionCounts] { await live?.connections() ?? [:] }

  /// The recorded requests that were not played yet; empty at the end of a test that sends all of them.
  public var unplayed: [HTTPArchive.Entry] { tape.withLock { $0.unplayed } }

  /// Plays the recording from its beginning.
  public func rewind() { tape.withLock { $0.rewind() } }

  /// Returns when all that was recorded is written.
  /// Throws ``TaskError`` with code `.fileNotWritable` if that failed, and `CancellationError` when the surrounding task is cancelled.
  public func finish() async throws { try await recorder?.finish() }

  /// The recorded response, or the one of the network, which is recorded.
  /// Throws ``TaskError`` with code `.notRecorded`, or `.connectionLost` where that is what was recorded; what the transport of recordings
  /// throws; and `CancellationError` when the surrounding task is cancelled.
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
        throw TaskError(.notRecorded, reason, phase: .preparing, isSurelyNotSent: true)
      }
      return try await recorder.record(request, body, over: live)
    }
  }
}

extension HTTPArchive.Entry {
  /// The response as it was recorded.
  fileprivate func played(_ number: Int, for request: HTTPRequest) throws -> HTTPResponse {
    guard var response = recordedResponse else {
      throw TaskError(
        .connectionLost, "request \(number) of the recording has no response: \(failure ?? "none came")",
        phase: .awaitingResponse)
    }
    response.url = request.url
    if let reason = missing(for: request.method) {
      throw TaskError(
        .notRecorded, "request \(number) of the recording has no body of its response: \(reason)", phase: .preparing,
        isSurelyNotSent: true)
    }
    if request.method != .head, wasStreamed { response.body = HTTPResponseBody(BrokenBody(failure ?? "")) }
    return response
  }
}

/// A body that breaks off, as it did when it was recorded.
private final class BrokenBody: HTTPBodySource {
  private let reason: String

  init(_ reason: String) { self.reason = reason }

  func next() async throws -> Data? {
    throw TaskError(.truncatedBody, "the recorded body broke off: \(reason)", phase: .receiving)
  }
}
