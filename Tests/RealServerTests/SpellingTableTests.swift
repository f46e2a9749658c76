import Errand
import ErrandTesting
import Foundation
import Testing

/// Tests every spelling in ``SpellingTable``.
@Suite(.timeLimit(.minutes(3))) struct SpellingTableTests {
  private func quietServer(_ mock: MockServer) -> Server {
    var configuration = ServerConfiguration()
    configuration.log = .discard
    return Server(mock.url, configuration: configuration, asDefault: false)
  }

  @Test func `sends the expected request for every valid spelling`() async throws {
    let mock = try MockServer()
    let server = quietServer(mock)
    func send(_ task: some ServerTask) async throws { try await task.on(server).run() }
    for (task, expected) in SpellingTable.sent {
      mock.enqueue(.status(.ok))
      try await send(task)
      let request = try #require(mock.requests.last)
      var seen = "\(request.method) \(request.target)"
      if let key = request.headers["X-Key"] { seen += " X-Key: \(key)" }
      if !request.body.isEmpty { seen += " \(String(decoding: request.body, as: UTF8.self))" }
      #expect(seen == expected, "\(type(of: task))")
    }
    #expect(mock.requests.count == SpellingTable.sent.count)
  }

  @Test func `timeouts, decoders and payload paths take effect in every spelling`() {
    for (task, isPlanned) in SpellingTable.planned { #expect(isPlanned(task.plan), "\(task)") }
  }

  @Test func `calls with invalid spellings fail before connecting`() async throws {
    let mock = try MockServer()
    let server = quietServer(mock)
    func send(_ task: some ServerTask) async throws { try await task.on(server).run() }
    for (task, words) in SpellingTable.failing {
      let error = await #expect(throws: TaskError.self, "\(type(of: task))") { try await send(task) }
      #expect(error?.reason.contains(words) == true && error?.wasNotSent == true, "\(error.map { "\($0)" } ?? "")")
    }
    #expect(mock.peakConnections == 0)
  }

  @Test func `reports ignored properties in the log and in expectTask`() async throws {
    let lines = Shared<[String]>([])
    var configuration = ServerConfiguration()
    configuration.log = LogOutput { line in lines.withLock { $0.append(line) } }
    let transport = StubTransport { .status(.ok, for: $0) }
    let server = Server(
      "https://shop.test", configuration: configuration, transport: transport, asDefault: false)
    func send(_ task: some ServerTask) async throws { try await task.on(server).run() }
    func expect(_ task: some ServerTask) async throws {
      try await expectTask(task, sends: ExpectedRequest(.get, "/"))
    }
    for (task, aspect) in SpellingTable.reported {
      lines.withLock { $0 = [] }
      try await send(task)
      let log = lines.withLock { $0 }
      #if DEBUG
        #expect(log.count == 1 && log[0].contains("is ignored") && log[0].contains(aspect), "\(task): \(log)")
      #endif
      let error = await #expect(throws: TaskExpectationError.self, "\(task)") { try await expect(task) }
      let words = error?.description ?? ""
      #expect(words.contains("is ignored") && words.contains(aspect), "\(task): \(words)")
    }
  }

  #if os(Linux)
    @Test func `invalid spellings produce a helpful compiler error`() async throws {
      let modules = try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent(
        "Modules")
      let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/CCurl/include")
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-spelling-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      // Put each task on its own line, so that the line of an error identifies it.
      let tasks =
        SpellingTable.refused.enumerated().map { "struct Refused\($0): ServerTask { \($1.body) }" }
        + SpellingTable.accepted.enumerated().map { "struct Accepted\($0): ServerTask { \($1) }" }
      try (tasks + ["import Errand", "import Foundation", ""]).joined(separator: "\n").write(
        to: folder.appendingPathComponent("main.swift"), atomically: true, encoding: .utf8)
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let status = await Shell.run(
        """
        export PATH='\(path)'
        cd '\(folder.path)' && swiftc -typecheck -swift-version 6 -diagnostic-style llvm -I '\(modules.path)' \
        -Xcc -fmodule-map-file='\(sources.path)/module.modulemap' -Xcc -I -Xcc '\(sources.path)' \
        -module-cache-path cache main.swift > errors 2>&1
        """)
      let said = try String(contentsOf: folder.appendingPathComponent("errors"), encoding: .utf8)
      let errors = said.split(separator: "\n").filter { $0.contains("error:") }
      try #require(status != 0 && !errors.isEmpty, "the compiler reported no errors: '\(said)'")
      func isRefused(_ line: Int, _ words: String) -> Bool {
        errors.contains { $0.hasPrefix("main.swift:\(line + 1):") && $0.contains(words) }
      }
      for (line, task) in SpellingTable.refused.enumerated() {
        #expect(isRefused(line, task.words), "\(task.body): \(errors)")
      }
      for line in SpellingTable.accepted.indices {
        #expect(!isRefused(SpellingTable.refused.count + line, ""), "\(SpellingTable.accepted[line])")
      }
    }
  #endif
}
