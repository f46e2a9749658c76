@testable import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct SettingsTests {
  @Test func `userAgentProvider is called for every request and overrides userAgent`() async throws {
    let count = Shared(0)
    let stub = StubServer(.status(503), .status(.ok)) {
      $0.userAgent = "static"
      $0.userAgentProvider = { "dynamic/\(count.withLock { $0 += 1; return $0 })" }
    }
    try await PlainTask().on(stub.server).retry(upTo: 1, after: .zero).run()
    #expect(stub.requests.map { $0.headers[.userAgent] } == ["dynamic/1", "dynamic/2"])
  }

  @Test func `omits the User-Agent header if userAgentProvider returns an empty string`() async throws {
    let stub = StubServer(.status(.ok)) { $0.userAgentProvider = { "" } }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.map { $0.headers.contains(.userAgent) } == [false])
  }

  @Test func `a token request inherits the network and logging settings but not the headers and hooks`() {
    func described(_ settings: ServerConfiguration) -> [String: String] {
      Mirror(reflecting: settings).children.reduce(into: [:]) { $0[$1.label ?? ""] = String(reflecting: $1.value) }
    }
    var settings = ServerConfiguration()
    settings.insecureHosts = ["a.test"]
    settings.pins = ["a.test": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]]
    settings.userAgent = "other"
    settings.userAgentProvider = { "other" }
    settings.defaultTimeout = .seconds(3)
    settings.timeouts = Timeouts(connect: .seconds(4))
    settings.retryPolicy = .never
    settings.circuitBreaker = CircuitBreaker(minimumCalls: 7)
    (settings.allowsExpensiveNetworkAccess, settings.allowsConstrainedNetworkAccess) = (false, false)
    settings.waitsForConnectivity = true
    settings.reachability = NoReachability()
    settings.connectivityTimeout = .seconds(9)
    settings.observers = [EventRecorder()]
    settings.recorders = [RecordedCalls()]
    settings.logStyle = .steps
    settings.logOptions = .standard
    settings.log = LogOutput(isTerminal: !settings.log.isTerminal) { _ in }
    settings.redaction = .none
    settings.addressPolicy = .publicOnly
    let (own, forTokens, usual) = (described(settings), described(settings.forTokens), described(ServerConfiguration()))
    let names = own.keys.filter { own[$0] != usual[$0] }
    #expect(names.count == 20, "\(names)")
    for name in names { #expect(forTokens[name] == own[name], "\(name)") }
    settings = ServerConfiguration()
    settings.standardHeaders = ["X-Own": "1"]
    settings.preflight = { _, _ in }
    settings.computedHeaders = { _ in [:] }
    #expect(settings.forTokens.standardHeaders.isEmpty && settings.forTokens.preflight == nil)
    #expect(settings.forTokens.computedHeaders == nil && settings.forTokens.maximumBodySize == 1 << 20)
  }

  private struct NoReachability: Reachability {
    func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {}
  }

  @Test(arguments: [true, false], [true, false])
  func `passes the expensive and constrained network settings to the transport`(
    expensive: Bool, constrained: Bool
  ) async throws {
    let stub = StubServer(.status(.ok)) {
      $0.allowsExpensiveNetworkAccess = expensive
      $0.allowsConstrainedNetworkAccess = constrained
    }
    try await PlainTask().on(stub.server).run()
    let options = try #require(stub.requests.first?.options)
    #expect(options.allowsExpensiveNetworkAccess == expensive)
    #expect(options.allowsConstrainedNetworkAccess == constrained)
  }

  @Test(arguments: [true, false]) func `passes waitsForConnectivity to the transport`(waits: Bool)
    async throws
  {
    let stub = StubServer(.status(.ok)) { $0.waitsForConnectivity = waits }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.first?.options.waitsForConnectivity == waits)
  }

  @Test func `marks streams and file downloads as long-lived for the transport`() async throws {
    let stub = StubServer(.data(Data("abc".utf8), .plainText))
    let task = PlainTask().on(stub.server)
    try await withFolder { folder in
      try await task.run()
      _ = try await task.downloadData()
      _ = try await task.stream().body.collect()
      try await task.download(to: folder.appendingPathComponent("file"))
    }
    #expect(stub.requests.map(\.options.isLongLived) == [false, false, true, true])
  }

  @Test func `an error keeps the body up to the limit, regardless of how the call fails`() async throws {
    let stub = StubServer(.data(Data("no widget".utf8), .plainText)) { $0.maximumErrorBodySize = 3 }
    let decoding = await taskError { _ = try await GetWidget().on(stub.server).download() }
    #expect(decoding?.code == .decodingFailed && decoding?.body == Data("no ".utf8))
    let refused = PlainTask().on(stub.server).accepting(.only(201))
    try await withFolder { folder in
      let errors = [
        await taskError { try await refused.run() },
        await taskError { _ = try await refused.stream() },
        await taskError { try await refused.download(to: folder.appendingPathComponent("file")) },
      ]
      for error in errors { #expect(error?.code == .badStatus && error?.body == Data("no ".utf8)) }
    }
  }

  @Test func `redacts the URL of the error and the title of the record`() async throws {
    let stub = StubServer(.status(404)) { $0.redaction.fields.insert("pin") }
    let task = PlainTask(query: ["pin": "1234", "id": "7"]).on(stub.server)
    let error = try #require(await taskError { try await task.run() })
    #expect(error.url == "https://shop.test/plain?pin=<redacted>&id=7")
    #expect(error.record.title == "GET https://shop.test/plain?pin=<redacted>&id=7")
    #expect(!"\(error)".contains("1234"))
    let response = try await task.accepting(.all).run()
    #expect(response.record.title == error.record.title)
  }

  /// An endless body that counts the chunks that were read.
  private final class Endless: HTTPBodySource {
    let read = Shared(0)
    func next() async throws -> Data? {
      read.withLock { $0 += 1 }
      return Data(count: 1024)
    }
  }

  @Test func `does not read more of an error body than the error keeps`() async throws {
    try await withFolder { folder in
      for verb in 0..<3 {
        let body = Endless()
        var configuration = ServerConfiguration()
        configuration.maximumErrorBodySize = 2000
        let transport = StubTransport { HTTPResponse(404, url: $0.url, body: HTTPResponseBody(body)) }
        let server = Server(
          "https://shop.test", configuration: configuration, transport: transport, environment: [:])
        let task = PlainTask().on(server)
        let error = await taskError {
          switch verb {
          case 0: try await task.run()
          case 1: _ = try await task.stream()
          default: try await task.download(to: folder.appendingPathComponent("file"))
          }
        }
        #expect(error?.status == 404 && error?.body.count == 2000)
        #expect(body.read.withLock { $0 } == 2)
      }
    }
  }

  @Test func `treats a negative size limit as zero`() async throws {
    let stub = StubServer(.data(Data("no".utf8), .plainText)) { $0.maximumErrorBodySize = -1 }
    let error = await taskError { try await PlainTask().on(stub.server).accepting(.only(201)).run() }
    #expect(error?.code == .badStatus && error?.body == Data())
    var configuration = ServerConfiguration()
    configuration.maximumBodySize = -1
    #expect(configuration.maximumBodySize == 0 && stub.server.configuration.maximumErrorBodySize == 0)
  }

  @Test(arguments: [true, false]) func `passes enableGZipDownloads to the transport`(isOn: Bool)
    async throws
  {
    let stub = StubServer(.status(.ok)) { $0.enableGZipDownloads = isOn }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.first?.options.decodesBody == isOn)
  }

  @Test func `passes registered pins to the transport, including backup pins`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.register(publicKey: "sha256/A", for: "shop.test")
      $0.register(publicKey: "B", for: "SHOP.test.")
      $0.register(publicKey: "C", for: "*.test", until: .distantPast)
    }
    try await PlainTask().on(stub.server).run()
    var pins: PublicKeyPins = ["shop.test": ["A", "B"]]
    pins.register("C", for: "*.test", until: .distantPast)
    #expect(stub.requests.first?.options.pins == pins)
  }

  @Test func `keeps the app awake during each call, regardless of how the call ends`() async throws {
    let log = Shared<[String]>([])
    let stub = StubServer(.widget, .status(404)) {
      $0.backgroundActivity = { task in
        log.withLock { $0.append("begins \(type(of: task))") }
        return { log.withLock { $0.append("ends \(type(of: task))") } }
      }
    }
    _ = try await GetWidget().on(stub.server).download()
    await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(log.withLock { $0 } == ["begins GetWidget", "ends GetWidget", "begins PlainTask", "ends PlainTask"])
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await PlainTask().on(stub.server).run()
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(log.withLock { $0.filter { $0.hasPrefix("begins") }.count == $0.filter { $0.hasPrefix("ends") }.count })
  }

  @Test func `a copy of the settings is independent of the original`() async throws {
    let first = StubServer(.status(.ok)) {
      $0.standardHeaders["X-Shop"] = "one"
      $0.userAgent = "first"
    }
    let second = StubServer(.status(.ok))
    await second.server.update { $0 = first.server.configuration }
    await first.server.update { $0.standardHeaders["X-Shop"] = "changed" }
    await second.server.update { $0.userAgent = "second" }
    try await PlainTask().on(first.server).run()
    try await PlainTask().on(second.server).run()
    let seen = (first.requests + second.requests).map { [$0.headers["X-Shop"], $0.headers[.userAgent]] }
    #expect(seen == [["changed", "first"], ["one", "second"]])
  }
}
