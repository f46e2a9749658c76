import Errand
import ErrandTesting
import Foundation
import Testing

/// Downloads into a folder, with the file name from the response.
@Suite(.timeLimit(.minutes(1))) struct DownloadIntoTests {
  /// Creates a server that sends `text`, with or without a file name.
  private func server(_ text: String = "new", named name: String?, _ status: HTTPStatus = .ok) -> Server {
    let transport = StubTransport { request in
      var headers: HTTPHeaders = [.contentType: "application/pdf"]
      if let name { headers[.contentDisposition] = "attachment; filename=\"\(name)\"" }
      return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
    }
    return Server("https://shop.test", transport: transport, environment: [:])
  }

  @Test(arguments: [
    ("report.txt", "report.txt"), (nil, "plain.pdf"), ("../../up", "up.pdf"), ("/etc/passwd", "passwd.pdf"),
    ("..", "plain.pdf"), ("a\\\\b.txt", "b.txt"), (".hidden", "hidden.pdf"),
  ]) func `names a file after the response and keeps it inside the folder`(
    sent: String?, name: String
  ) async throws {
    try await withFolder { root in
      let folder = root.appendingPathComponent("a/b")
      let response = try await PlainTask().on(server(named: sent)).download(into: folder)
      #expect(response.payload.lastPathComponent == name)
      #expect(response.payload.deletingLastPathComponent().path == folder.path)
      #expect(try files(in: folder) == [name] && files(in: root) == ["a"])
      #expect(try String(contentsOf: response.payload, encoding: .utf8) == "new")
    }
  }

  @Test func `adds a number to a file's name if the name is taken, unless the file is replaced`() async throws {
    try await withFolder { folder in
      let old = folder.appendingPathComponent("a.tar.gz")
      try Data("old".utf8).write(to: old)
      let task = PlainTask().on(server(named: "a.tar.gz"))
      #expect(try await task.download(into: folder).payload.lastPathComponent == "a (2).tar.gz")
      #expect(try await task.download(into: folder).payload.lastPathComponent == "a (3).tar.gz")
      #expect(try String(contentsOf: old, encoding: .utf8) == "old")
      #expect(try files(in: folder) == ["a (2).tar.gz", "a (3).tar.gz", "a.tar.gz"])
      let replaced = try await task.download(into: folder, replacing: true)
      #expect(replaced.payload.path == old.path)
      #expect(try String(contentsOf: old, encoding: .utf8) == "new" && files(in: folder).count == 3)
    }
  }

  @Test func `does not replace a symbolic link or a folder of the same name`() async throws {
    try await withFolder { folder in
      let target = folder.appendingPathComponent("target")
      try FileManager.default.createSymbolicLink(
        at: folder.appendingPathComponent("x.pdf"), withDestinationURL: target)
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("x (2).pdf"), withIntermediateDirectories: false)
      let file = try await PlainTask().on(server(named: "x.pdf")).download(into: folder).payload
      #expect(file.lastPathComponent == "x (3).pdf")
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
  }

  @Test func `concurrent downloads of the same name get separate files`() async throws {
    try await withFolder { folder in
      let server = server(named: "x.pdf")
      let files = try await withThrowingTaskGroup(of: URL.self) { group in
        for _ in 0..<20 { group.addTask { try await PlainTask().on(server).download(into: folder).payload } }
        return try await group.reduce(into: []) { $0.append($1.lastPathComponent) }
      }
      #expect(Set(files) == Set(["x.pdf"] + (2...20).map { "x (\($0)).pdf" }))
      #expect(try Set(ErrandTests.files(in: folder)) == Set(files))
    }
  }

  @Test func `a failed download leaves no file or folder`() async throws {
    try await withFolder { root in
      let folder = root.appendingPathComponent("new")
      for status in [HTTPStatus.noContent, 404, .partialContent] {
        await #expect(throws: TaskError.self) {
          try await PlainTask().retry(.never).on(server(named: "x", status)).download(into: folder)
        }
      }
      #expect(try files(in: root) == [])
      let file = root.appendingPathComponent("file")
      try Data().write(to: file)
      let error = await #expect(throws: TaskError.self) {
        try await PlainTask().on(server(named: "x")).download(into: file)
      }
      #expect(error?.code == .fileNotWritable)
      #expect(try files(in: root) == ["file"])
    }
  }

  @Test func `a per-call step can read the body of a file download`() async throws {
    struct Reader: PerCallStep {
      let seen: Shared<Data>

      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        let data = try await response.body.collect()
        seen.withLock { $0 = data }
        response.body = HTTPResponseBody(data)
        return response
      }
    }
    try await withFolder { folder in
      let seen = Shared(Data())
      let server = server(named: "x.pdf")
      await server.update { $0.perCallSteps = [Reader(seen: seen)] }
      let file = try await PlainTask().on(server).download(into: folder, replacing: true).payload
      #expect(file.lastPathComponent == "x.pdf" && seen.withLock { $0 } == Data("new".utf8))
      #expect(try files(in: folder) == ["x.pdf"])
    }
  }
}
