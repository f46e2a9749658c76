import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct SettingsTests {
  @Test func `the provider of the user agent is asked for every request, and goes before the name`() async throws {
    let count = Shared(0)
    let stub = StubServer(.status(503), .status(.ok)) {
      $0.userAgent = "static"
      $0.userAgentProvider = { "dynamic/\(count.withLock { $0 += 1; return $0 })" }
    }
    try await PlainTask().on(stub.server).retry(upTo: 1, after: .zero).run()
    #expect(stub.requests.map { $0.headers[.userAgent] } == ["dynamic/1", "dynamic/2"])
  }

  @Test(arguments: [true, false], [true, false])
  func `whether expensive and constrained networks may be used reaches the transport`(
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

  @Test func `a size below nothing is nothing, and no trap`() async throws {
    let stub = StubServer(.data(Data("no".utf8), .plainText)) { $0.maximumErrorBodySize = -1 }
    let error = await taskError { try await PlainTask().on(stub.server).accepting(.only(201)).run() }
    #expect(error?.code == .badStatus && error?.body == Data())
    var configuration = ServerConfiguration()
    configuration.maximumBodySize = -1
    #expect(configuration.maximumBodySize == 0 && stub.server.configuration.maximumErrorBodySize == 0)
  }

  @Test(arguments: [true, false]) func `whether bodies are asked for compressed reaches the transport`(isOn: Bool)
    async throws
  {
    let stub = StubServer(.status(.ok)) { $0.enableGZipDownloads = isOn }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.first?.options.decodesBody == isOn)
  }

  @Test func `pins that are registered reach the transport, those of a backup too`() async throws {
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

  @Test func `an app is kept awake from a call's beginning to its end, however it ends`() async throws {
    let log = Shared<[String]>([])
    let stub = StubServer(.widget, .status(404)) {
      $0.keepAwake = { task in
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

  @Test func `settings are copied as one value, and the copy goes its own way`() async throws {
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
