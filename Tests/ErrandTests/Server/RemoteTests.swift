import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RemoteTests {
  private let known = [
    Remote("https://shop.test", name: "Production", shortName: "prod"),
    Remote("https://staging.shop.test", name: "Staging", shortName: "stg"),
  ]

  private func remote(_ value: String?) throws -> Remote {
    let environment = value.map { ["SHOP_REMOTE": $0] } ?? [:]
    return try .fromEnvironment("SHOP_REMOTE", among: known, default: known[0], environment: environment)
  }

  @Test(arguments: ["Staging", "staging", "STG"]) func `the environment selects a remote, ignoring case`(value: String)
    throws
  {
    #expect(try remote(value) == known[1])
  }

  @Test(arguments: [nil, ""])
  func `uses the default remote if the variable is missing or empty`(value: String?) throws {
    #expect(try remote(value) == known[0])
  }

  @Test func `an unknown name throws an error that lists the valid names`() {
    let error = #expect(throws: TaskError.self) { try remote("Prodution") }
    #expect(error?.code == .unknownRemote)
    #expect(error?.description == "SHOP_REMOTE names an unknown remote 'Prodution'; known remotes: Production, Staging")
  }

  @Test func `a remote's name defaults to its host`() {
    #expect(Remote("https://api.shop.test/v1").name == "api.shop.test")
    #expect(Remote("https://api.shop.test/v1", name: "API").shortName == "API")
    #expect(Remote("no host").name == "no host")
  }

  @Test(arguments: ["shop.test", "no scheme", "https://", "https://a b.test", "://x", "https:///path"])
  func `a call to a malformed remote throws an error that contains the address`(address: String) async {
    let stub = StubServer(.status(.ok), remote: Remote(address, name: "mine"))
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .badURL)
    #expect(error?.description.contains("'mine'") == true && error?.description.contains(address) == true)
    #expect(stub.requests.isEmpty)
  }

  @Test func `the error for a malformed address hides its secrets`() async {
    let stub = StubServer(.status(.ok), remote: "https://user:s3cret@ho st.test")
    let error = await #expect(throws: TaskError.self) {
      try await PlainTask(path: "x", query: ["token": "s3cret"]).on(stub.server).run()
    }
    #expect(error?.code == .badURL)
    #expect(error?.description.contains("s3cret") == false, "\(error?.description ?? "")")
  }

  /// Creates a server for a remote, and appends its log to `lines`.
  private func logged(_ remote: Remote, _ lines: Shared<[String]>) -> StubServer {
    StubServer(.status(.ok), remote: remote) {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
    }
  }

  private static let cut = Remote("https://shop.test/v1#part", name: "cut")

  @Test func `creating or updating a server with a remote that has a fragment logs a warning`() async throws {
    let lines = Shared<[String]>([])
    _ = logged(Self.cut, lines)
    let stub = logged("https://shop.test", lines)
    #expect(lines.withLock { $0.count } == 1, "a valid remote logs nothing")
    await stub.server.update { $0.remote = Self.cut }
    for line in lines.withLock({ $0 }) {
      #expect(line.hasPrefix("calls to this server will fail: ") && line.contains("#part"), "\(line)")
    }
    #expect(lines.withLock { $0.count } == 2)
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .badURL && stub.requests.isEmpty)
    try await URLTask(.known("https://other.test/x")).on(stub.server).run()  // not below the remote
  }

  @Test(arguments: ["https://ann:pw@shop.test/v1", "https://ann@shop.test", "HTTP://:pw@127.0.0.1/"])
  func `rejects a remote with user info and suggests an alternative`(address: String) async throws {
    let lines = Shared<[String]>([])
    let stub = logged(Remote(address, name: "mine"), lines)
    let error = try #require(await taskError { try await PlainTask().on(stub.server).run() })
    #expect(error.code == .badURL && error.wasNotSent && stub.requests.isEmpty)
    #expect(error.reason.contains("authentication = .basic(user:password:)") && !error.reason.contains("pw"))
    #expect(lines.withLock { $0.count } == 1)
    await #expect(throws: TaskError.self) { try await stub.server.setRemote(Remote(address)) }
    let plain = StubServer(.status(.ok), remote: "https://shop.test/a@b?c=d@e")
    try await PlainTask().on(plain.server).run()
  }

  @Test func `setRemote throws and changes nothing if the remote has a fragment`()
    async throws
  {
    let lines = Shared<[String]>([])
    let stub = logged("https://shop.test", lines)
    for change in 0..<2 {
      let error = await #expect(throws: TaskError.self) {
        if change == 0 { return try await stub.server.setRemote(Self.cut) }
        try await stub.server.update {
          $0.userAgent = "changed"
          try $0.setRemote(Self.cut)
        }
      }
      #expect(error?.code == .badURL)
    }
    #expect(stub.server.remote == "https://shop.test" && stub.server.configuration.userAgent == "tests")
    try await stub.server.update { try $0.setRemote("https://other.test") }
    try await PlainTask().on(stub.server).run()
    #expect(stub.urls == ["https://other.test/plain"] && lines.withLock { $0.isEmpty })
  }

  @Test func `creating a server with a zero timeout logs a warning`() {
    let lines = Shared<[String]>([])
    _ = StubServer(.status(.ok)) {
      $0.defaultTimeout = .zero
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
    }
    #expect(lines.withLock { $0 }.map { $0.prefix(23) } == ["every call will fail: d"])
  }
}
