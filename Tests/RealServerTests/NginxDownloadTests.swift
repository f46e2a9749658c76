import ErrandTransfers

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// Downloads from nginx by processes that are killed while they write.
  @Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
  struct NginxDownloadTests {
    private static func size(_ file: URL) -> Int {
      var status = stat()
      return stat(file.path, &status) == 0 ? Int(status.st_size) : -1
    }

    @Test func `a new process resumes the download of a killed process without corrupting the file`()
      async throws
    {
      var random = SeededGenerator(seed: 3)
      var data = Data(capacity: 48 << 20)
      while data.count < 48 << 20 { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
      let nginx = try await Nginx(files: ["large": data])
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let place = folder.appendingPathComponent("large")
      let part = folder.appendingPathComponent(".large.errand-part")
      let url = nginx.url.appendingPathComponent("slow/large")
      for number in 1...5 {
        let program = try BenchProgram(["transfer-get", "--url", url.absoluteString, "--file", place.path])
        // The process must resume instead of starting over.
        #expect(await program.kill { Self.size(part) > number * 3 << 20 })
      }
      let before = Self.size(part)
      #expect(before > 15 << 20 && Self.size(place) < 0)
      let server = Server(Remote(nginx.url))
      let download = ResumableDownload(URLTask(url).on(server), to: place)
      var first: Int64?
      let states = download.states
      let run = Task { try await download.run() }
      for await state in states where first == nil { first = state.progress?.completed }
      _ = try await run.value
      #expect((first ?? 0) >= Int64(before), "the download resumes where the killed process stopped")
      #expect(try Data(contentsOf: place) == data)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["large"])
      withExtendedLifetime(nginx) {}
    }

    @Test func `a new process resumes the ranges of a killed process without corrupting the file`()
      async throws
    {
      var random = SeededGenerator(seed: 4)
      var data = Data(capacity: 64 << 20)
      while data.count < 64 << 20 { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
      let nginx = try await Nginx(files: ["large": data])
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let place = folder.appendingPathComponent("large")
      let part = folder.appendingPathComponent(".large.errand-part")
      let url = nginx.url.appendingPathComponent("slow/large")
      @Sendable func present() -> Int {
        guard Self.size(part) == 64 << 20 + 24, let file = try? FileHandle(forReadingFrom: part) else { return 0 }
        try? file.seek(toOffset: 64 << 20)
        let marks = (try? file.readToEnd()) ?? Data()
        return stride(from: 0, to: marks.count, by: 8).reduce(0) { sum, start in
          sum + marks.dropFirst(start).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
      }
      var before = 0
      for number in 1...4 {
        let words = ["transfer-get", "--url", url.absoluteString, "--file", place.path, "--ranges", "2"]
        let program = try BenchProgram(words)
        let (bytes, least) = (Int.random(in: 1 << 20..<3 << 20, using: &random), before)
        // The process must resume instead of starting over.
        #expect(await program.kill { present() > least + bytes }, "\(number)")
        before = present()
      }
      #expect(before > 4 << 20 && before < 64 << 20 && Self.size(place) < 0)
      let server = Server(Remote(nginx.url))
      let download = ResumableDownload(URLTask(url).on(server), to: place, ranges: 2)
      var first: Int64?
      let states = download.states
      let run = Task { try await download.run() }
      for await state in states where first == nil { first = state.progress?.completed }
      _ = try await run.value
      #expect((first ?? 0) >= Int64(before), "the download resumes where the killed process stopped")
      #expect(try Data(contentsOf: place) == data)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["large"])
      withExtendedLifetime(nginx) {}
    }

    @Test func `downloads a file again if the file has changed between two runs`() async throws {
      let (old, new) = (Data(repeating: 1, count: 8 << 20), Data(repeating: 2, count: 9 << 20))
      let one = try await Nginx(files: ["large": old])
      let other = try await Nginx(files: ["large": new])
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tests-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let place = folder.appendingPathComponent("large")
      func download(_ nginx: Nginx) -> ResumableDownload {
        let server = Server(Remote(nginx.url))
        return ResumableDownload(
          Endpoint<Void, Data>.get("slow/large").on(server), to: place, identity: "large")
      }
      let first = download(one)
      let run = Task { try await first.run() }
      #expect(await eventually { Self.size(folder.appendingPathComponent(".large.errand-part")) > 2 << 20 })
      first.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await download(other).run()
      #expect(try Data(contentsOf: place) == new)
      withExtendedLifetime((one, other)) {}
    }
  }
#endif
