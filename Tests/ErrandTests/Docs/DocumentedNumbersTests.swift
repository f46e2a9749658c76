import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Checks the numbers in the guides against the code.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct DocumentedNumbersTests {
  /// Checks that a document contains all statements, ignoring line breaks.
  private func check(_ document: String, says statements: String..., line: Int = #line) throws {
    let url = DocumentedCode.package.appendingPathComponent(document)
    let text = try String(contentsOf: url, encoding: .utf8).split { $0.isWhitespace }.joined(separator: " ")
    for statement in statements {
      #expect(text.contains(statement), "\(document) does not contain '\(statement)', line \(line)")
    }
  }

  private let transports = "Sources/Errand/Errand.docc/TheTransports.md"
  private let throttling = "Sources/Errand/Errand.docc/RetryAndThrottling.md"
  private let seeing = "Sources/Errand/Errand.docc/SeeingWhatHappens.md"
  private let configuring = "Sources/Errand/Errand.docc/ConfiguringAServer.md"
  private let changes = "Docs/CHANGELOG.md"

  @Test func `the guides state the size limits of a request head and a collected body`() throws {
    let head = HTTPRequest.maximumHeadSize >> 10
    try check(transports, says: "a head (method, URL, header fields) above \(head) KiB")
    try check(changes, says: "a limit of \(head) KiB for the head of a request")
    let body = ServerConfiguration().maximumBodySize >> 20
    try check(transports, says: "`ServerConfiguration/maximumBodySize`, \(body) MiB by default")
    try check(changes, says: "A body in memory may be up to \(body) MiB (`maximumBodySize`)")
  }

  @Test func `the guides state the limits on concurrency and retries`() throws {
    #expect(ThrottleLimits().perHost == 10 && ThrottleLimits().streamsPerHost == 0 && ThrottleLimits().total == 0)
    try check(throttling, says: "ten attempts run per host (scheme, host and port), and nothing else is limited")
    let policy = RetryPolicy.standard
    #expect(policy.maximumAttempts == 3 && policy.hasJitter)
    let (down, up) = (Int(policy.maximumDownloadDelay.inSeconds), Int(policy.maximumUploadDelay.inSeconds))
    try check(
      throttling, says: "makes up to three attempts. It retries 408, 429, 502, 503, 504 and transient transport errors")
    try check(
      throttling, says: "A `Retry-After` of more than \(down) seconds (\(up) for requests with a body) ends the call")
    try check(changes, says: "(\(down) s, \(up) s for requests with a body)")
    #expect(RetryBudget.standard == RetryBudget(ratio: 0.2, capacity: 10))
    try check(throttling, says: "Every call adds a fifth of a retry, and up to ten are saved")
    try check(
      throttling, says: "at most \(1 + RetryBudget.standard.ratio) requests per call, plus ten more")
  }

  @Test func `the configuration guide lists the limits`() throws {
    let (configuration, policy) = (ServerConfiguration(), RetryPolicy.standard)
    let connect = try #require(configuration.timeouts.connect)
    #expect(configuration.timeouts == Timeouts(connect: connect))
    try check(
      configuring, says: "| `defaultTimeout` | \(Int(configuration.defaultTimeout.inSeconds)) s |",
      "| `connect` | \(Int(connect.inSeconds)) s |", "| `call` | none |",
      "| `maximumAttempts` | \(policy.maximumAttempts) |",
      "| `maximumDownloadDelay` | \(Int(policy.maximumDownloadDelay.inSeconds)) s |",
      "| `maximumUploadDelay` | \(Int(policy.maximumUploadDelay.inSeconds)) s |",
      "| `perHost` | \(ThrottleLimits().perHost) |",
      "| `maximumBodySize` | \(configuration.maximumBodySize >> 20) MiB |",
      "| `maximumErrorBodySize` | \(configuration.maximumErrorBodySize >> 20) MiB |")
    #if os(Linux)
      let idle = Int(CurlTransport.Configuration().idleLifetime.inSeconds)
      try check(configuring, says: "| `idleLifetime` | \(idle) s |")
    #endif
    let kept = RecordingLimits()
    #expect(kept.count == 1000)
    try check(configuring, says: "the newest 1,000 are kept, up to \(kept.bytes >> 20) MiB")
  }

  @Test func `the guides state the circuit breaker's defaults and the longest wait for a network`() throws {
    let breaker = CircuitBreaker.standard
    #expect(breaker == CircuitBreaker(window: .seconds(30), minimumCalls: 10, failureRatio: 0.5, probes: 1))
    #expect(breaker.openDuration == .seconds(30))
    try check(
      throttling,
      says: "opens for 30 seconds if there were at least ten attempts in 30 seconds and half of them failed")
    try check(
      "Sources/Errand/Manager/Policies/CircuitBreaker.swift", says: "Opens for 30 seconds if half of at least ten")
    let longest = Int(PollingReachability().longest.inSeconds)
    let guide = "Sources/Errand/Errand.docc/ConfiguringAServer.md"
    try check(guide, says: "after 0.5 s, 1 s, 2 s and so on up to \(longest) s")
  }

  @Test func `the guides state the sizes of the event queues`() throws {
    #expect(ObserverQueue.capacity == 1000)
    let watching = "Sources/Errand/Errand.docc/Watching.md"
    try check(watching, says: "its own queue of up to 1,000 events")
    let meter = Int(1 / ProgressMeter.interval.inSeconds)
    try check(watching, says: "at most \(meter) times a second")
    try check("Sources/Errand/Observers/Events/TaskObserver.swift", says: "Up to 1,000 events are queued.")
  }

  @Test func `the guides state the time limits for writing recordings and the number of recordings kept`() throws {
    #expect(RecordingFolder.patience == 1000 && TaskRecorder.patienceAtExit == 1000)
    try check(seeing, says: "the process waits a second for it at exit")
    #expect(TaskRecorder.patience == .seconds(10))
    try check(seeing, says: "has held the folder's lock for 10 seconds without writing")
    let limits = RecordingLimits()
    #expect(limits == RecordingLimits(count: 1000, age: .zero, bytes: 256 << 20))
    try check(
      "Sources/Errand/Observers/Policies/RecordingStyle.swift",
      says: "Defaults to 1,000 recordings and 256 MiB, with no age limit.")
  }

  @Test func `the change log states the number of conformance checks`() throws {
    let count = TransportConformance { StubTransport { .status(.ok, for: $0) } }.cases.count
    try check(changes, says: "`TransportConformance`, \(count) checks for your transport")
  }

  #if os(Linux)
    @Test func `the guide states the memory limits of a transfer`() throws {
      // libcurl can read another 256 KiB from the socket at once.
      let ahead = (TransferInbox.highWater >> 10) + 256
      try check(
        transports,
        says: "at most \(ahead) KiB ahead of the body's reader", "down to \(TransferInbox.lowWater >> 10) KiB",
        "a chunk of \(Unpacking.chunkSize >> 10) KiB and the window",
        "A streamed upload buffers at most \(TransferOutbox.highWater >> 10) KiB plus one chunk")
    }

    @Test func `the guide states the size limits of a response's head and body`() throws {
      try check(
        transports, says: "a head above \(HeadLines.largestHead >> 10) KiB, including interim responses",
        "trailer fields above \(HeadLines.largestTrailer >> 10) KiB")
      let ratio = CurlTransport.Configuration().maximumDecodingRatio
      let plain = DecodingLimits.unsuspicious >> 20
      try check(transports, says: "larger than both \(plain) MiB and \(ratio) times its compressed size")
      try check(changes, says: "compressed body may expand to \(plain) MiB or to \(ratio) times its size")
    }

    @Test func `the guide states the lifetime of idle connections`() throws {
      let seconds = Int(CurlTransport.Configuration().idleLifetime.inSeconds)
      #expect(seconds < 60, "many proxies close idle connections after 60 s, and nginx closes them after 75 s")
      try check(transports, says: "when the server does, or after \(seconds) seconds")
      try check(changes, says: "when the server closes it, or after \(seconds) s")
    }

    @Test func `the guide states the maximum number of compression layers`() throws {
      #expect(ContentCoding.mostLayers == 4)
      try check(transports, says: "up to four codings")
    }

    @Test func `the guide states when a transfer uses another thread`() throws {
      try check(transports, says: "when a thread carries \(CurlShard.worthwhile) of its transfers")
      let count = try CurlLoop.all.get().count
      #expect(count == min(4, max(1, ProcessInfo.processInfo.activeProcessorCount)))
      try check(transports, says: "one thread per processor, up to four")
    }
  #endif
}
