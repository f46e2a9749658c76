import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RecordingFolderTests {
  private func recordings(in folder: URL) throws -> [String] { try files(in: folder).filter { $0.hasSuffix(".txt") } }

  private func index(in folder: URL) throws -> [RecordingEntry] {
    try JSONDecoder().decode([RecordingEntry].self, from: Data(contentsOf: folder.appendingPathComponent("index.json")))
  }

  private func recording(_ text: String = "text\n") -> Recording {
    Recording(
      text: text, name: "GET Widget",
      entry: RecordingEntry(
        task: "GetWidget", method: "GET", outcome: "succeeded", startedAt: Date().formatted(RecordingEntry.dateFormat),
        seconds: 0, attempts: 1))
  }

  @Test func `the index describes every file`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.status(503), .widget, .status(404))
      let before = Date()
      try await stub.server.recordTaskPath(to: folder)
      let task = GetWidget().on(stub.server).query("token", "s3cret").tagged("shelf").retry(upTo: 1, after: .seconds(2))
      _ = try await task.download()
      _ = try? await task.download()
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await task.download()
      }
      _ = try? await cancelled.value
      await stub.server.recorded()
      let index = try index(in: folder)
      #expect(index.map(\.file) == (try recordings(in: folder)))
      #expect(index.map(\.number) == [1, 2, 3] && index.map(\.outcome) == ["succeeded", "failed", "cancelled"])
      #expect(index.map(\.status) == [200, 404, nil] && index.map(\.attempts) == [2, 1, 0])
      #expect(index.map(\.seconds) == [2, 0, 0] && index.allSatisfy { $0.task == "GetWidget" && $0.tag == "shelf" })
      #expect(index[0].url == "https://shop.test/widgets/7?token=<redacted>" && index[0].method == "GET")
      let startedAt = try Date(index[0].startedAt, strategy: RecordingEntry.dateFormat)
      #expect(startedAt >= before - 0.01 && startedAt <= Date())
    }
  }

  @Test func `the index entry of an unrecorded task has no details`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.status(404))
      try await stub.server.recordTaskPath(to: folder)
      let task = GetWidget().on(stub.server).query("a", "s3cret").tagged("s3cret").comment("s3cret").recording(.hidden)
      _ = try? await task.run()
      await stub.server.recorded()
      #expect(try index(in: folder).map(\.url) == [nil])
      for file in try files(in: folder) {
        let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        #expect(!text.contains("s3cret"), "\(file): \(text)")
      }
    }
  }

  @Test func `removes the oldest recordings above the limit`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      try await stub.server.recordTaskPath(to: folder, limits: RecordingLimits(count: 3))
      for _ in 0..<5 { _ = try await GetWidget().on(stub.server).download() }
      await stub.server.recorded()
      #expect(try index(in: folder).map(\.number) == [3, 4, 5])
      #expect(try recordings(in: folder) == ["0003. GET Widget.txt", "0004. GET Widget.txt", "0005. GET Widget.txt"])
    }
  }

  @Test func `keeps only the newest of many simultaneous recordings`() throws {
    let url = URL.newFolder()
    defer { try? FileManager.default.removeItem(at: url) }
    var folder = RecordingFolder(url)
    try folder.open()
    let recordings = (0..<10).map { _ in recording() }
    let others = try PrivateFolder(url)
    let outcome = try others.locked(".lock", patience: 0) { _ in
      try folder.write(recordings, RecordingLimits(count: 4), patience: 0)
    }
    let isLocked = if case .locked? = outcome { true } else { false }
    #expect(isLocked)
    _ = try folder.write(recordings, RecordingLimits(count: 4))
    #expect(try index(in: url).map(\.number) == [7, 8, 9, 10])
    #expect(try files(in: url).count == 6, "the folder contains four recordings, the index and the lock")
  }

  @Test func `concurrent sessions share a folder's index and numbers`() async throws {
    try await withFolder { folder in
      let shops = [StubServer(.widget), StubServer(.widget), StubServer(.widget)]
      for shop in shops { try await shop.server.recordTaskPath(to: folder) }
      await withTaskGroup { group in
        for shop in shops {
          for _ in 0..<20 { group.addTask { _ = try? await GetWidget().on(shop.server).download() } }
        }
      }
      for shop in shops { await shop.server.recorded() }
      let index = try index(in: folder)
      #expect(index.map(\.number) == Array(1...60))
      #expect(index.map(\.file) == (try recordings(in: folder)))
    }
  }

  @Test func `numbers calls in the order in which they end`() async throws {
    try await withFolder { folder in
      let stub = StubServer(.widget)
      try await stub.server.recordTaskPath(to: folder)
      for number in 0..<5 { _ = try await GetWidget(id: number).on(stub.server).download() }
      await stub.server.recorded()
      #expect(try index(in: folder).map(\.url) == (0..<5).map { "https://shop.test/widgets/\($0)" })
    }
  }

  @Test func `a new session continues the numbers and ignores other programs' files`() async throws {
    try await withFolder { folder in
      try Data("mine".utf8).write(to: folder.appendingPathComponent("0041. GET Mine.txt"))
      try Data("2026".utf8).write(to: folder.appendingPathComponent("2026 notes.txt"))
      for _ in 0..<2 {
        let stub = StubServer(.widget)
        try await stub.server.recordTaskPath(to: folder)
        _ = try await GetWidget().on(stub.server).download()
        await stub.server.recorded()
      }
      #expect(try index(in: folder).map(\.number) == [42, 43])
      #expect(try String(contentsOf: folder.appendingPathComponent("0041. GET Mine.txt"), encoding: .utf8) == "mine")
    }
  }

  @Test func `the next session completes the unfinished work of a killed session`() throws {
    let url = URL.newFolder()
    defer { try? FileManager.default.removeItem(at: url) }
    var folder = RecordingFolder(url)
    try folder.open()
    _ = try folder.write((0..<4).map { _ in recording() }, .unlimited)
    let names = try recordings(in: url)
    // The process was killed before renaming the second file, after removing the third, and while writing the fifth.
    try FileManager.default.moveItem(
      at: url.appendingPathComponent(names[1]), to: url.appendingPathComponent(".0002.partial"))
    try FileManager.default.removeItem(at: url.appendingPathComponent(names[2]))
    try Data("hal".utf8).write(to: url.appendingPathComponent(".0005.partial"))
    try Data("[".utf8).write(to: url.appendingPathComponent(".index.partial"))
    var next = RecordingFolder(url)
    try next.open()
    #expect(try index(in: url).map(\.number) == [1, 2, 4])
    #expect(try files(in: url) == [".lock", names[0], names[1], names[3], "index.json"])
  }

  @Test func `does not remove old recordings before the new index is written`() throws {
    let url = URL.newFolder()
    defer { try? FileManager.default.removeItem(at: url) }
    var folder = RecordingFolder(url)
    try folder.open()
    let limits = RecordingLimits(count: 30)
    _ = try folder.write((0..<30).map { _ in recording() }, limits)
    let names = try recordings(in: url)
    // A failing disk has the same effect as a killed process: nothing is committed.
    let obstacle = url.appendingPathComponent(".index.partial")
    try FileManager.default.createDirectory(
      at: obstacle.appendingPathComponent("x"), withIntermediateDirectories: true)
    #expect(throws: POSIXError.self) { try folder.write((0..<30).map { _ in recording() }, limits) }
    #expect(try recordings(in: url) == names && index(in: url).count == 30)
    try FileManager.default.removeItem(at: obstacle)
    _ = try folder.write((0..<30).map { _ in recording() }, limits)
    #expect(try recordings(in: url) == index(in: url).map(\.file) && index(in: url).count == 30)
  }

  @Test func `the next session removes recordings that a killed session had marked for removal`() throws {
    let url = URL.newFolder()
    defer { try? FileManager.default.removeItem(at: url) }
    var (killed, next) = (RecordingFolder(url), RecordingFolder(url))
    try killed.open()
    _ = try killed.write((0..<6).map { _ in recording() }, .unlimited)
    let names = try recordings(in: url)
    // The process was killed during the removal, before the fifth file was renamed.
    var index = RecordingIndex()
    for entry in try self.index(in: url) { index.append(entry) }
    index.mark(upTo: 3)
    try index.data.write(to: url.appendingPathComponent("index.json"))
    try FileManager.default.removeItem(at: url.appendingPathComponent(names[0]))
    try FileManager.default.moveItem(
      at: url.appendingPathComponent(names[4]), to: url.appendingPathComponent(".0005.partial"))
    try next.open()
    #expect(try self.index(in: url).map(\.number) == [4, 5, 6] && recordings(in: url) == Array(names[3...]))
    #expect(try self.index(in: url).allSatisfy { $0.isLeaving == nil })
  }

  @Test func `reads a known index line by line and rejects an edited index`() throws {
    var index = RecordingIndex()
    for number in 1...3 { index.append(recording().entry.numbered(number, name: "GET Widget", bytes: 5)) }
    #expect(RecordingIndex(index.data, knowing: index)?.data == index.data)
    #expect(RecordingIndex(index.data, knowing: RecordingIndex())?.entries == index.entries)
    #expect(RecordingIndex(RecordingIndex().data, knowing: index)?.entries == [])
    for edited in [
      Data(), Data("[\n7\n]\n".utf8), Data("[{}]\n".utf8), index.data + index.data, index.data.dropLast(2),
    ] {
      #expect(RecordingIndex(edited, knowing: index).map(\.entries) == nil)
    }
  }

  @Test func `a disk error is logged once, does not fail calls, and is retried`() async throws {
    try await withFolder { folder in
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      try await stub.server.recordTaskPath(to: folder)
      // A folder at the temporary path of the index makes every commit fail.
      let obstacle = folder.appendingPathComponent(".index.partial/x")
      try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
      for _ in 0..<3 {
        _ = try await GetWidget().on(stub.server).download()
        await stub.server.recorded()
      }
      #expect(lines.withLock { $0.count } == 1 && lines.withLock { $0 }.first?.contains(folder.path) == true)
      #expect(try recordings(in: folder).isEmpty && !(try files(in: folder)).contains(".0001.partial"))
      try FileManager.default.removeItem(at: folder.appendingPathComponent(".index.partial"))
      _ = try await GetWidget().on(stub.server).download()
      await stub.server.recorded()
      #expect(try index(in: folder).map(\.file) == (try recordings(in: folder)))
      #expect(try recordings(in: folder).count == 1)
    }
  }

  @Test func `does not record a call that ends after the recording has ended`() async throws {
    try await withFolder { folder in
      let (asked, gate) = (Counter(), Gate())
      let transport = StubTransport { request in
        asked.add()
        await gate.wait()
        return .status(.ok, for: request)
      }
      let server = Server("https://shop.test", transport: transport, environment: [:])
      try await server.recordTaskPath(to: folder)
      let call = Task { try await PlainTask().on(server).run() }
      await asked.reached(1)
      await server.endTaskPathRecording()
      gate.open()
      _ = try await call.value
      #expect(try recordings(in: folder).isEmpty && server.taskPathURL == nil)
    }
  }
}
