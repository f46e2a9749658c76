import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct DownloadTests {
  private let old = Data("old".utf8)

  /// Downloads over an existing file and checks that nothing else is left in the folder.
  private func download(
    _ answer: MockAnswer, check: (URL, Result<TaskResponse<URL>, any Error>) throws -> Void
  ) async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let file = folder.appendingPathComponent("file")
      try old.write(to: file)
      shop.mock.enqueue(answer)
      let result: Result<TaskResponse<URL>, any Error>
      do {
        result = .success(try await PlainTask().on(shop.server).retry(.never).download(to: file))
      } catch {
        result = .failure(error)
      }
      try check(file, result)
      #expect(try files(in: folder) == ["file"], "no other file is left in the folder")
      #expect(await eventually { shop.isQuiet })
    }
  }

  @Test func `a complete download replaces the file`() async throws {
    let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) })
    try await download(.data(body)) { (file, result) throws in
      let response = try result.get()
      #expect(response.payload == file && response.status == 200)
      #expect(try Data(contentsOf: file) == body)
    }
  }

  @Test func `a rejected download keeps the old file`() async throws {
    try await download(.status(500, body: "sorry")) { (file, result) throws in
      #expect(throws: TaskError.self) { try result.get() }
      #expect(try Data(contentsOf: file) == old)
    }
  }

  @Test func `a truncated download keeps the old file`() async throws {
    try await download(.truncated(body: Data(count: 1 << 20), after: 1 << 19)) { (file, result) throws in
      let error = #expect(throws: TaskError.self) { try result.get() }
      #expect(error?.code == .truncatedBody)
      #expect(try Data(contentsOf: file) == old)
    }
  }

  @Test func `a cancelled download keeps the old file`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let file = folder.appendingPathComponent("file")
      try old.write(to: file)
      shop.mock.enqueue(.endless(chunk: Data(count: 1000)))
      let call = Task { try await PlainTask().on(shop.server).download(to: file) }
      #expect(await eventually { (try? files(in: folder).count) == 2 })
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
      #expect(try Data(contentsOf: file) == old)
      #expect(try files(in: folder) == ["file"])
    }
  }

  @Test func `a download creates missing folders`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let file = folder.appendingPathComponent("a/b/file")
      try await GetWidget().on(shop.server).download(to: file)
      #expect(try files(in: file.deletingLastPathComponent()) == ["file"])
    }
  }

  @Test func `the error for an unwritable destination contains its path`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let file = folder.appendingPathComponent("file")
      try old.write(to: file)
      for place in [file.appendingPathComponent("below"), folder] {
        let error = await #expect(throws: TaskError.self) { try await GetWidget().on(shop.server).download(to: place) }
        #expect(error?.code == .fileNotWritable)
        #expect(error?.description.contains(place.path) == true)
      }
      #expect(try files(in: folder) == ["file"])
      #expect(
        try files(in: folder.deletingLastPathComponent()).filter { $0.contains(folder.lastPathComponent) }.count == 1)
      #expect(try Data(contentsOf: file) == old)
    }
  }

  @Test func `a failed download keeps a folder that a concurrent download uses`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      shop.mock.route("/bad", answer: .truncated(body: Data(count: 1000), after: 10).closing())
      for round in 0..<50 {
        let new = folder.appendingPathComponent("\(round)/a/b")
        let bad = Task {
          try await PlainTask(path: "bad").on(shop.server).retry(.never).download(to: new.appendingPathComponent("bad"))
        }
        try await GetWidget().on(shop.server).download(to: new.appendingPathComponent("good"))
        await #expect(throws: TaskError.self) { try await bad.value }
        #expect(try files(in: new) == ["good"])
      }
    }
  }

  private func mode(of file: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
  }

  @Test(arguments: [0o600, 0o640, 0o755]) func `replacing a file keeps its permissions`(mode: Int) async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let file = folder.appendingPathComponent("file")
      try old.write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      try await GetWidget().on(shop.server).download(to: file)
      #expect(try Data(contentsOf: file) != old)
      #expect(try self.mode(of: file) == mode)
    }
  }

  @Test(arguments: [230, 255]) func `accepts a file name of maximum length`(length: Int) async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let name = String(repeating: "n", count: length)
      try await GetWidget().on(shop.server).download(to: folder.appendingPathComponent(name))
      #expect(try files(in: folder) == [name])
    }
  }

  @Test func `a failed download removes only the folders it created`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let there = folder.appendingPathComponent("there")
      try FileManager.default.createDirectory(at: there, withIntermediateDirectories: true)
      shop.mock.enqueue(.truncated(body: Data(count: 1000), after: 10))
      await #expect(throws: TaskError.self) {
        try await PlainTask().on(shop.server).retry(.never).download(to: there.appendingPathComponent("a/b/file"))
      }
      #expect(try files(in: there) == [])
      #expect(try files(in: folder) == ["there"])
      let name = String(repeating: "n", count: 256)
      let error = await #expect(throws: TaskError.self) {
        try await GetWidget().on(shop.server).download(to: there.appendingPathComponent("a/\(name)"))
      }
      #expect(error?.code == .fileNotWritable)
      #expect(try files(in: there) == [])
    }
  }
}
