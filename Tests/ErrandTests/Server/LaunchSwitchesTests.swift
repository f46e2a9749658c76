import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct LaunchSwitchesTests {
  private let lines = Shared<[String]>([])

  private func server(
    _ environment: [String: String], manager: TaskManager = TaskManager(),
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> Server {
    var configuration = ServerConfiguration()
    configuration.log = LogOutput { [lines] line in lines.withLock { $0.append(line) } }
    configure(&configuration)
    return Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { .json(#"{"id":7,"name":"Sprocket"}"#, for: $0) }, manager: manager,
      environment: environment)
  }

  @Test func `echoes only the listed types`() async throws {
    let server = server(["ERRAND_ECHO": "GetWidget, Other,"])
    _ = try await GetWidget().on(server).timeout(.seconds(3)).download()
    try await PlainTask().on(server).run()
    try await GetWidget().on(server).echo(.none).run()
    let lines = lines.withLock { $0 }
    #expect(lines.count == 1 && lines.first?.hasPrefix("GetWidget: ") == true)
  }

  @Test func `matches endpoints without their generic arguments`() async throws {
    let server = server(["ERRAND_ECHO": "Endpoint"])
    _ = try await Endpoint<Void, Widget>.get("widgets/7").on(server).download()
    _ = try await Endpoint<Widget, Void>.post("widgets", body: Widget()).on(server).download()
    _ = try await GetWidget().on(server).download()
    #expect(lines.withLock { $0.count } == 2)
  }

  @Test(arguments: [
    ("*", 4), ("/widgets/*", 2), ("/*", 4), ("/widgets/7", 2), ("/widgets", 0), ("/*/7*", 2), ("/plain", 1),
    ("SHOP.test", 3), ("/widgets/7?x", 0),
    ("other.test", 1), ("Search", 1), ("Nobody,/a/*", 0), ("Endpoint", 1), ("/elsewhere", 1),
  ])
  func `matches tasks by type, name, host and path`(words: String, count: Int) async throws {
    let server = server(["ERRAND_ECHO": words])
    _ = try await GetWidget().on(server).download()
    _ = try await PlainTask().on(server).run()
    _ = try await Endpoint<Void, Widget>.get("/widgets/7?a=b").on(server).named("Search").download()
    _ = try await URLTask(.known("https://other.test/elsewhere")).on(server).run()
    #expect(lines.withLock { $0.count } == count)
  }

  @Test(arguments: [true, false]) func `an echo formats JSON and uses colors only on a terminal`(
    isTerminal: Bool
  ) async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer(.status(404), .widget) {
      $0.echoesTasks = true
      $0.log = LogOutput(isTerminal: isTerminal) { line in lines.withLock { $0.append(line) } }
    }
    _ = try? await GetWidget().on(stub.server).retry(.never).download()
    _ = try await GetWidget().on(stub.server).download()
    let texts = lines.withLock { $0 }
    #expect(texts.count == 2 && texts.allSatisfy { $0.contains("\u{1B}") == isTerminal })
    #expect(texts[1].contains("{\n  \"id\": 7,\n  \"name\": \"Sprocket\"\n}\n"))
    guard isTerminal else { return }
    #expect(
      texts[0].hasPrefix("\u{1B}[31mGetWidget: call failed") && texts[0].contains("\u{1B}[31m404 Not Found\u{1B}[0m"))
    #expect(texts[1].hasPrefix("\u{1B}[1mGetWidget: ") && texts[1].contains("\u{1B}[32m200 OK\u{1B}[0m"))
    #expect(texts[1].contains("\u{1B}[36mGET https://shop.test/widgets/7\u{1B}[0m\n"))
  }

  @Test func `an echo contains no terminal control characters`() async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer(.data(Data("one\r\n\ttwo\u{1B}]0;title\u{7}\u{9B}2J".utf8), .plainText)) {
      $0.echoesTasks = true
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
    }
    _ = try await PlainTask().on(stub.server).downloadData()
    let text = try #require(lines.withLock { $0.first })
    #expect(text.contains("one\n\ttwo ]0;title  2J"), "\(text.debugDescription)")
  }

  @Test(arguments: [("none", 0), ("short", 2), ("STEPS", 8)])
  func `the environment's log style overrides the configured log style`(
    name: String, count: Int
  ) async throws {
    let server = server(["ERRAND_LOG_STYLE": name]) { $0.logStyle = count == 0 ? .steps : .none }
    _ = try await GetWidget().on(server).download()
    #expect(lines.withLock { $0.count } == count)
  }

  @Test func `ignores an unknown style and reports it once with the valid styles`() async throws {
    let server = server(["ERRAND_LOG_STYLE": "loud"])
    for _ in 0..<3 { _ = try await GetWidget().on(server).download() }
    #expect(
      lines.withLock { $0 } == ["ERRAND_LOG_STYLE names an unknown style 'loud'; known styles: none, short, steps"])
  }

  @Test func `records calls if enabled in the environment`() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("new")
      let server = server(["ERRAND_RECORD": path.path])
      #expect(server.taskPathURL?.path == path.path)
      _ = try await GetWidget().on(server).download()
      await server.recorded()
      #expect(try files(in: path).filter { !$0.hasPrefix(".") } == ["0001. GET Widget.txt", "index.json"])
    }
  }

  @Test func `reports a folder that can't be created and continues`() async throws {
    let server = server(["ERRAND_RECORD": "/dev/null/below"])
    #expect(try await GetWidget().on(server).download() == Widget())
    #expect(server.taskPathURL == nil)
    #expect(lines.withLock { $0 }.count == 1 && lines.withLock { $0 }.first?.contains("/dev/null/below") == true)
  }

  @Test func `empty or missing variables change nothing`() async throws {
    for environment in [[:], ["ERRAND_ECHO": "", "ERRAND_LOG_STYLE": "", "ERRAND_RECORD": ""]] {
      let server = server(environment)
      _ = try await GetWidget().on(server).download()
      #expect(lines.withLock { $0 }.isEmpty && server.taskPathURL == nil)
      #expect(server.configuration.echoedTasks.isEmpty && server.configuration.logStyle == .none)
    }
  }
}
