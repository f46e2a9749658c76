import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RecordingTests {
  private struct Login: ServerPOSTTask, PayloadUploadingTask {
    var uploadPayload: [String: String] { ["user": "a", "password": "s3cret"] }
    var path: String { "login" }
    var query: HTTPQuery { ["token": "s3cret"] }
    var headers: HTTPHeaders { [.authorization: "Bearer s3cret"] }
  }

  private struct SecretTask: ServerGETTask, UnrecordedTask {
    var path: String { "s3cret" }
    var headers: HTTPHeaders { ["X-Other": "s3cret"] }
  }

  private func text(_ folder: URL, _ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// Returns the names of the recordings in a folder, without the index and hidden files.
  private func recordings(in folder: URL) throws -> [String] { try files(in: folder).filter { $0.hasSuffix(".txt") } }

  @Test func `records every call in a numbered file named after its method and task`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      try await stub.server.manager.recordTaskPath(to: folder.appendingPathComponent("new"))
      for _ in 0..<2 { _ = try await GetWidget().on(stub.server).download() }
      try await AddWidget().on(stub.server).upload()
      await stub.server.recorded()
      let path = try #require(stub.server.manager.taskPathURL)
      #expect(try recordings(in: path) == ["0001. GET Widget.txt", "0002. GET Widget.txt", "0003. POST AddWidget.txt"])
      let text = try text(path, "0001. GET Widget.txt")
      #expect(text.contains("GET https://shop.test/widgets/7"))
      #expect(text.contains(#"{"id":7,"name":"Sprocket"}"#))
    }
  }

  @Test func `records a cached call with its URL`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.status(.ok, [.cacheControl: "max-age=60"])) { $0.cache = MemoryCache() }
      try await stub.server.manager.recordTaskPath(to: folder)
      for _ in 0..<2 { _ = try await PlainTask().on(stub.server).downloadData() }
      await stub.server.recorded()
      #expect(stub.requests.count == 1)
      let text = try text(folder, "0002. GET Plain.txt")
      #expect(text.contains("\nGET https://shop.test/plain\n") && text.contains("served from the cache"), "\(text)")
    }
  }

  @Test func `does not write secrets`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.json(#"{"access_token":"s3cret"}"#), .status(401, [.setCookie: "s3cret"]))
      try await stub.server.manager.recordTaskPath(to: folder)
      try await Login().on(stub.server).run()
      _ = try? await Login().on(stub.server).run()
      await stub.server.recorded()
      let names = try recordings(in: folder)
      #expect(names.count == 2)
      for name in names {
        let text = try text(folder, name)
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("<redacted>"))
      }
    }
  }

  @Test func `records only that an unrecorded task ran`() async throws {
    try await withFolder { folder in
      let stub = StubServer(
        .json(#"{"a":"s3cret"}"#), .status(404, ["X-Mine": "s3cret"]),
        .failure(TaskError(.badResponse, "s3cret", phase: .receiving)))
      try await stub.server.manager.recordTaskPath(to: folder)
      for _ in 0..<3 { _ = try? await SecretTask().on(stub.server).run() }
      await stub.server.recorded()
      let names = try recordings(in: folder)
      #expect(names.count == 3)
      for name in names {
        let text = try text(folder, name)
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("GET"))
      }
    }
  }

  @Test func `concurrent sessions in one folder don't overwrite each other's files`() async throws {
    try await withFolder { folder in
      let stubs = (0..<4).map { _ in StubServer(.widget) }
      for stub in stubs { try await stub.server.manager.recordTaskPath(to: folder) }
      await withTaskGroup { group in
        for (index, stub) in stubs.enumerated() {
          for _ in 0..<25 {
            group.addTask {
              // Use two task names, so only the numbers distinguish the files.
              if index % 2 == 0 {
                _ = try? await GetWidget().on(stub.server).download()
              } else {
                _ = try? await AddWidget().on(stub.server).download()
              }
            }
          }
        }
      }
      for stub in stubs { await stub.server.endTaskPathRecording() }
      let names = try recordings(in: folder)
      #expect(names.count == 100)
      #expect(Set(names.map { $0.prefix(4) }).count == 100, "each number is used once")
      for name in names { #expect(try text(folder, name).contains("Widget: call succeeded")) }
    }
  }

  @Test func `throws .fileNotWritable with the path if the folder can't be created`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      let manager = TaskManager()
      let error = await #expect(throws: TaskError.self) {
        try await manager.recordTaskPath(to: file.appendingPathComponent("below"))
      }
      #expect(error?.code == .fileNotWritable)
      #expect(error?.description.contains(file.path) == true)
      #expect(manager.taskPathURL == nil)
    }
  }

  @Test func `a deleted folder does not fail calls and is logged once`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      let path = folder.appendingPathComponent("gone")
      try await stub.server.manager.recordTaskPath(to: path)
      try FileManager.default.removeItem(at: path)
      for _ in 0..<3 {
        _ = try await GetWidget().on(stub.server).download()
        await stub.server.recorded()
      }
      #expect(lines.withLock { $0 }.count == 1)
      #expect(lines.withLock { $0 }.first?.contains(path.path) == true)
    }
  }

  @Test func `records nothing after the recording has ended`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      try await stub.server.manager.recordTaskPath(to: folder)
      await stub.server.manager.endTaskPathRecording()
      _ = try await GetWidget().on(stub.server).download()
      #expect(try recordings(in: folder) == [])
      #expect(stub.server.manager.taskPathURL == nil)
    }
  }

  @Test func `each session without a configured folder creates its own folder`() async throws {
    let folders = [try await TaskManager().recordTaskPath(), try await TaskManager().recordTaskPath()]
    #expect(folders[0] != folders[1])
    for folder in folders { try FileManager.default.removeItem(at: folder) }
  }

  @Test func `an echo shows the redacted request and response`() async throws {
    struct EchoedLogin: ServerPOSTTask, PayloadUploadingTask, EchoingTask {
      var uploadPayload: [String: String] { ["password": "s3cret"] }
      var path: String { "login" }
    }
    let lines = Shared<[String]>([])
    let stub = StubServer(.json(#"{"ok":true,"token":"s3cret"}"#)) {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
    }
    try await EchoedLogin().on(stub.server).run()
    try await GetWidget().on(stub.server).run()
    try await EchoedLogin().on(stub.server).echo(.none).run()
    let echo = lines.withLock { $0 }.joined()
    #expect(lines.withLock { $0 }.count == 1)
    #expect(echo.contains("POST https://shop.test/login"))
    #expect(echo.contains("{\n  \"ok\": true,\n  \"token\": \"<redacted>\"\n}"))
    #expect(echo.contains("{\n  \"password\": \"<redacted>\"\n}"))
    await stub.server.update { $0.echoesTasks = true }
    try await GetWidget().on(stub.server).run()
    #expect(lines.withLock { $0 }.count == 2)
  }

  @Test func `does not record bodies above the limit`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.data(Data(repeating: 0x61, count: 101), .plainText)) {
        $0.maxLoggedDownloadSize = 100
        $0.maxLoggedUploadSize = 10
      }
      try await stub.server.manager.recordTaskPath(to: folder)
      let task = URLTask(.known("https://shop.test/x"), body: .text(String(repeating: "b", count: 11)))
      _ = try await task.on(stub.server).download()
      await stub.server.recorded()
      let text = try text(folder, try #require(try recordings(in: folder).first))
      #expect(text.contains("<11 bytes, over the limit of 10>"))
      #expect(text.contains("<101 bytes, over the limit of 100>"))
    }
  }

  @Test func `echoing a call does not change its outcome`() async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer(.data(Data(repeating: 0x61, count: 1000), .plainText)) {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
      $0.maximumBodySize = 100
      $0.maxLoggedDownloadSize = 10
    }
    let silent = try await GetWidget().on(stub.server).run()
    let echoed = try await GetWidget().on(stub.server).echo().run()
    #expect(silent.status == .ok && echoed.status == .ok)
    for response in [silent, echoed] {
      #expect(await taskError { _ = try await response.body.collect() }?.code == .bodyConsumed)
    }
    #expect(lines.withLock { $0 }.joined().contains("<1000 bytes, over the limit of 10>"))
    await stub.server.update { $0.maxLoggedDownloadSize = 2000 }
    try await GetWidget().on(stub.server).echo().run()
    #expect(lines.withLock { $0 }.last?.contains(String(repeating: "a", count: 1000)) == true)
  }
}
