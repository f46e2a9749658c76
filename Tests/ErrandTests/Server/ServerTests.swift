import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServerTests {
  private func make(_ host: String, asDefault: Bool = false) -> Server {
    Server(Remote("https://\(host)"), transport: StubTransport { .status(.ok, for: $0) }, asDefault: asDefault)
  }

  // These are exit tests, because the default server is global to the process.
  @Test func `the first server becomes the default and stays the default until another server is set`() async {
    await #expect(processExitsWith: .success) {
      let stub = StubTransport { .status(.ok, for: $0) }
      let first = Server("https://first.test", transport: stub)
      let second = Server("https://second.test", transport: stub, asDefault: true)
      #expect(Server.default === first)
      Server.default = second
      #expect(Server.default === second)
      await Server.withDefault(first) {
        Server.default = second
        #expect(Server.default === first)
      }
    }
  }

  @Test func `a server with asDefault false becomes the default only if it is set explicitly`() async {
    await #expect(processExitsWith: .success) {
      let library = Server("https://library.test", asDefault: false)
      #expect(Server.default.remote == .none)
      let app = Server("https://app.test")
      #expect(Server.default === app)
      Server.default = library
      #expect(Server.default === library)
    }
  }

  #if DEBUG
    @Test func `debug builds log a second default candidate once`() async {
      await #expect(processExitsWith: .success) {
        let lines = Shared<[String]>([])
        func make(_ remote: Remote, asDefault: Bool = true) -> Server {
          Server(remote, asDefault: asDefault) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
        }
        _ = [make("https://a.test"), make("https://b.test", asDefault: false)]
        #expect(lines.withLock { $0 } == [])
        _ = [make("https://c.test"), make("https://d.test")]
        let servers = "Server(a.test (https://a.test)), not to Server(c.test (https://c.test))"
        let line =
          "tasks without a server are sent to the first server created, \(servers): pass asDefault: false, or set Server.default"
        #expect(lines.withLock { $0 } == [line])
      }
    }
  #endif

  @Test func `a server can be created from a URL, a remote or a literal and configured by a closure`() async throws {
    let log = StubLog([.status(.ok)])
    let transport = StubTransport { try log.answer($0) }
    let servers = [
      Server("https://a.test", transport: transport, asDefault: false) { $0.defaultTimeout = .seconds(3) },
      Server(Remote("https://a.test", name: "A"), transport: transport, asDefault: false) {
        $0.defaultTimeout = .seconds(3)
      },
      Server(.known("https://a.test") as URL, transport: transport, asDefault: false) {
        $0.defaultTimeout = .seconds(3)
      },
    ]
    for server in servers {
      try await server.send(PlainTask(path: "x"))
      #expect(log.requests.last?.options.timeouts.attempt == .seconds(3))
      #expect(log.requests.last?.url.absoluteString == "https://a.test/x")
    }
    #expect(servers.map(\.remote.name) == ["a.test", "A", "a.test"])
    var configuration = ServerConfiguration()
    configuration.userAgent = "own"
    let server = Server("https://a.test", configuration: configuration, asDefault: false) {
      #expect($0.userAgent == "own" && $0.remote == "https://a.test")
      $0.remote = "https://b.test"
    }
    #expect(server.remote == "https://b.test" && server.configuration.userAgent == "own")
  }

  @Test func `only the default server is retained, until another server replaces it`() async {
    await #expect(processExitsWith: .success) {
      weak var first: Server?
      weak var second: Server?
      do {
        let stub = StubTransport { .status(.ok, for: $0) }
        let servers = [
          Server("https://first.test", transport: stub), Server("https://second.test", transport: stub),
        ]
        for server in servers { try await PlainTask().on(server).run() }
        (first, second) = (servers[0], servers[1])
      } catch {
        Issue.record(error)
      }
      #expect(await eventually { second == nil } && first != nil)
      let third = Server("https://third.test", transport: StubTransport { .status(.ok, for: $0) })
      Server.default = third
      #expect(await eventually { first == nil } && Server.default === third)
    }
  }

  @Test func `reading the default early does not prevent setting it later`() async {
    await #expect(processExitsWith: .success) {
      #expect(Server.default.remote == .none)
      let first = Server("https://first.test", transport: StubTransport { .status(.ok, for: $0) })
      #expect(Server.default === first)
    }
  }

  @Test func `without a server, a call throws an error that says what is missing`() async {
    await #expect(processExitsWith: .success) {
      let error = await #expect(throws: TaskError.self) { try await PlainTask(path: "a").run() }
      #expect(error?.code == .noRemote)
      #expect(error?.description.hasPrefix("PlainTask: no remote for the path 'a'") == true)
    }
  }

  @Test func `withDefault sets the default for a Swift task and its children`() async throws {
    let a = make("a.test")
    let b = make("b.test")
    try await withThrowingTaskGroup { group in
      for (server, host) in [(a, "a.test"), (b, "b.test")] {
        group.addTask {
          try await Server.withDefault(server) {
            let url = try await Task { try await PlainTask().run().url }.value
            #expect(url.host() == host)
            #expect(Server.default === server)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `update changes nothing if its closure throws`() async throws {
    struct No: Error {}
    let server = make("a.test")
    await server.update { $0.defaultTimeout = .seconds(3) }
    #expect(server.configuration.defaultTimeout == .seconds(3))
    await #expect(throws: No.self) {
      try await server.update {
        $0.defaultTimeout = .seconds(99)
        throw No()
      }
    }
    #expect(server.configuration.defaultTimeout == .seconds(3))
    try await server.setRemote("https://b.test")
    await #expect(throws: TaskError.self) { try await server.setRemote("https://c.test#part") }
    await server.setStandardHeaders(["X": "1"])
    #expect(server.remote.address == "https://b.test")
    #expect(server.configuration.standardHeaders["X"] == "1")
  }

  @Test func `a call keeps the settings it started with`() async throws {
    let stub = StubServer(.status(503), .status(.ok), remote: "https://old.test")
    let server = stub.server
    await server.update { configuration in
      configuration.standardHeaders = ["X-Version": "old"]
      configuration.preflight = { _, _ in
        await server.update {
          $0.remote = "https://new.test"
          $0.standardHeaders = ["X-Version": "new"]
        }
      }
    }
    try await PlainTask(path: "a").on(server).run()
    try await PlainTask(path: "a").on(server).run()
    #expect(stub.urls == ["https://old.test/a", "https://old.test/a", "https://new.test/a"])
    #expect(stub.requests.map { $0.headers["X-Version"] } == ["old", "old", "new"])
  }

  @Test func `applies concurrent changes without losing any`() async {
    let server = make("a.test")
    await withTaskGroup { group in
      for number in 0..<200 { group.addTask { await server.update { $0.insecureHosts.insert("\(number)") } } }
    }
    #expect(server.configuration.insecureHosts.count == 200)
  }

  @Test func `a disabled server sends nothing and throws .disabled`() async {
    let stub = StubServer(.status(.ok)) { $0.disabled = true }
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).run() }
    #expect(error?.code == .disabled)
    #expect(error?.description.contains("shop.test") == true)
    #expect(stub.requests.isEmpty)
  }

  @Test func `servers that share a manager share its limits`() async throws {
    let manager = TaskManager(limits: ThrottleLimits(total: 1))
    let gate = Gate()
    let transport = StubTransport { request in
      await gate.wait()
      return .status(.ok, for: request)
    }
    let servers = ["a", "b"].map {
      Server(Remote("https://\($0).test"), transport: transport, manager: manager)
    }
    let calls = servers.map { server in Task { try await PlainTask().on(server).run().status } }
    #expect(await eventually { manager.waitingCount >= 1 })
    #expect(manager.runningCount == 1)
    gate.open()
    for call in calls { #expect(try await call.value == 200) }
  }

  @Test func `the task's hooks receive an accepted response before the server's hooks`() async throws {
    struct Hooked: ServerGETTask {
      let log: Counter
      func postProcess(response: HTTPResponse) async throws { #expect(log.count == 0); log.add() }
      func postflight(response: HTTPResponse) async throws { #expect(log.count == 1); log.add() }
    }
    let log = Counter()
    let stub = StubServer(.status(.ok), .status(404)) {
      $0.postflight = { _, response in
        #expect(log.count == 2 && response.status == 200)
        log.add()
      }
    }
    try await Hooked(log: log).on(stub.server).run()
    await #expect(throws: TaskError.self) { try await Hooked(log: log).on(stub.server).run() }
    #expect(log.count == 3)
  }
}
