import ErrandTransfers

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Uploads to tuspyserver, a tus 1.0 server.
  @Suite(
    .enabled(if: TusServer.isExpected, "tuspyserver is not installed"), .timeLimit(.minutes(3)))
  struct TusServerTests {
    struct AddFile: ServerPOSTTask {
      let server: Server
      var path = "files/"
    }

    private func inFolder(_ body: (TusServer, Server, URL, Data) async throws -> Void) async throws {
      let tus = try await TusServer()
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "errand-tests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let file = folder.appendingPathComponent("large.bin")
      let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
      try data.write(to: file)
      try await body(tus, Server(Remote(tus.url)), file, data)
    }

    /// Returns the content of the server's only upload.
    private func stored(_ tus: TusServer) throws -> Data? {
      let names = try FileManager.default.contentsOfDirectory(atPath: tus.folder.path)
      let name = names.first {
        !$0.hasPrefix(".") && !$0.hasSuffix(".info") && !$0.hasSuffix(".lock")
      }
      return try name.map { try Data(contentsOf: tus.folder.appendingPathComponent($0)) }
    }

    @Test func `uploads a file completely, in chunks or in one request`() async throws {
      for chunk in [700_000, Int.max] {
        try await inFolder { tus, server, file, data in
          let upload = ResumableUpload(
            of: file, with: AddFile(server: server), by: .tus, chunkSize: chunk)
          let answer = try await upload.run()
          #expect(answer.headers["Upload-Offset"] == "3000000")
          #expect(try stored(tus) == data)
        }
      }
    }

    @Test func `an upload that is cancelled repeatedly resumes at the server's offset`()
      async throws
    {
      try await inFolder { tus, server, file, data in
        for fraction in [0.2, 0.5, 0.8] {
          let upload = ResumableUpload(
            of: file, with: AddFile(server: server), by: .tus, chunkSize: 300_000)
          let states = upload.states
          let run = Task { try await upload.run() }
          for await state in states where (state.progress?.fraction ?? 0) > fraction {
            upload.cancel()
          }
          _ = await run.result
        }
        let last = ResumableUpload(
          of: file, with: AddFile(server: server), by: .tus, chunkSize: 300_000)
        if try stored(tus) != data { try await last.run() }
        #expect(try stored(tus) == data)
      }
    }

    @Test func `a new process resumes the upload of a killed process without corrupting the file`()
      async throws
    {
      let tus = try await TusServer()
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let file = folder.appendingPathComponent("large.bin")
      var random = SeededGenerator(seed: 5)
      var data = Data(capacity: 64 << 20)
      while data.count < 64 << 20 { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
      try data.write(to: file)
      let url = tus.url.appendingPathComponent("files/").absoluteString
      for number in 1...4 {
        let program = try BenchProgram(["upload-put", "--url", url, "--file", file.path, "--concurrency", "1"])
        // The process must resume at the server's offset instead of starting over.
        #expect(await program.kill { Self.largest(tus) > number * 6 << 20 })
      }
      // The server may have stored more of the interrupted chunk than it reports. The program sends 8 MiB at a time.
      let before = Self.largest(tus) - 8 << 20
      #expect(before > 0 && before < 64 << 20)
      // The server may answer 500 while it finishes the interrupted chunk.
      var configuration = ServerConfiguration()
      configuration.retryPolicy.statuses = [.internalServerError, 502, 503]
      let task = AddFile(server: Server(Remote(tus.url), configuration: configuration))
      let upload = ResumableUpload(of: file, with: task, by: .tus, chunkSize: 1 << 20)
      var first: Int64?
      let states = upload.states
      let run = Task { try await upload.run() }
      for await state in states where first == nil {
        if let completed = state.progress?.completed, completed > 0 { first = completed }
      }
      _ = try await run.value
      #expect((first ?? 0) >= Int64(before), "the upload resumes where the killed process stopped")
      #expect(try Self.names(tus).contains { try Data(contentsOf: tus.folder.appendingPathComponent($0)) == data })
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["large.bin"])
    }

    private static func names(_ tus: TusServer) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: tus.folder.path).filter { $0.utf8.count == 32 }
    }

    /// Returns the size of the server's largest upload.
    private static func largest(_ tus: TusServer) -> Int {
      let names = (try? Self.names(tus)) ?? []
      return names.map { name in
        let attributes = try? FileManager.default.attributesOfItem(atPath: tus.folder.appendingPathComponent(name).path)
        return attributes?[.size] as? Int ?? 0
      }.max() ?? 0
    }

    @Test func `uploads bytes of unknown length`() async throws {
      try await inFolder { tus, server, _, data in
        let upload = ResumableUpload(named: "log.bin", with: AddFile(server: server), by: .tus, chunkSize: 700_000) {
          offset, count in Data(data.dropFirst(Int(offset)).prefix(count))
        }
        let answer = try await upload.run()
        #expect(answer.headers["Upload-Offset"] == "3000000")
        #expect(try stored(tus) == data)
      }
    }

    private struct Enough: Error {}

    @Test func `discard removes the upload from the server`() async throws {
      try await inFolder { tus, server, file, _ in
        let upload = ResumableUpload(
          of: file, with: AddFile(server: server), by: .tus, chunkSize: 300_000)
        // Stop between two chunks, because the server might write an interrupted chunk after deleting the upload.
        await server.update { configuration in
          configuration.preflight = { _, request in
            if request.headers["Upload-Offset"] == "600000" { throw Enough() }
          }
        }
        await #expect(throws: Enough.self) { try await upload.run() }
        #expect(try stored(tus)?.count == 600_000)
        try await upload.discard()
        #expect(try stored(tus) == nil)
      }
    }
  }

  /// A FastAPI application that uses tuspyserver.
  final class TusServer: Sendable {
    let url: URL
    /// The folder that contains its uploads.
    let folder: URL
    private let server: LocalServer

    static let isExpected =
      interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    private static let interpreter = Python.interpreter(with: "tuspyserver, uvicorn")

    init() async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(
          reason: "python3 with the packages tuspyserver and uvicorn is not installed")
      }
      server = try await LocalServer(interpreter) { port, folder in
        Self.script.replacingOccurrences(of: "PORT", with: "\(port)").replacingOccurrences(
          of: "FOLDER", with: "\(folder)/uploads")
      } arguments: {
        ["\($0)/configuration"]
      }
      folder = server.folder.appendingPathComponent("uploads")
      url = try server.url("http")
    }

    private static let script = #"""
      import asyncio, collections, contextlib, os, uvicorn
      from fastapi import FastAPI
      from tuspyserver import create_tus_router
      from tuspyserver.storage.local import LocalFileStorage

      os.makedirs("FOLDER", exist_ok=True)
      app = FastAPI()
      # By default, tuspyserver waits for a lock on the thread that must release it. The storage's own lock can admit two
      # waiters at once.
      class Storage(LocalFileStorage):
          locks = collections.defaultdict(asyncio.Lock)

          @contextlib.asynccontextmanager
          async def lock(self, uid):
              async with self.locks[uid]:
                  yield

      app.include_router(
          create_tus_router(prefix="files", files_dir="FOLDER", storage=Storage("FOLDER")))
      uvicorn.run(app, host="127.0.0.1", port=int("PORT"), log_level="critical")
      """#
  }
#endif
