#if os(Linux)
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  @testable import Errand

  /// Records from a process of its own, which is killed while it writes.
  @Suite struct RecordingKillTests {
    private func start(_ folder: URL, recordings: Int) throws -> Process {
      let products = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
      let process = Process()
      process.executableURL = products.appendingPathComponent("errand-bench")
      process.arguments = [
        "record", "--file", folder.path, "--concurrency", "64", "--requests", "100000000",
        "--recordings", "\(recordings)",
      ]
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      return process
    }

    /// Waits until the folder was written to so often.
    private func writes(_ count: Int, to folder: URL, by process: Process) async throws {
      let index = folder.appendingPathComponent("index.json").path
      var (seen, last) = (0, ino_t(0))
      while seen < count {
        var status = stat()
        if stat(index, &status) == 0, status.st_ino != last { (seen, last) = (seen + 1, status.st_ino) }
        try #require(process.isRunning, "it ended by itself, with \(process.terminationStatus)")
        await Task.yield()
      }
    }

    private func index(in folder: URL) throws -> [RecordingEntry] {
      try JSONDecoder().decode(
        [RecordingEntry].self, from: Data(contentsOf: folder.appendingPathComponent("index.json")))
    }

    @Test(.timeLimit(.minutes(1)), arguments: [20, 5000])
    func `a process that is killed while it records leaves no partial file, and an index that matches`(
      recordings: Int
    ) async throws {
      var random = SeededGenerator(seed: 7)
      try await withFolder { folder in
        for _ in 0..<6 {
          // Two at a time, one of which outlives the other.
          let processes = try (0..<2).map { _ in try start(folder, recordings: recordings) }
          for process in processes {
            try await writes(Int.random(in: 2..<12, using: &random), to: folder, by: process)
            for _ in 0..<Int.random(in: 0..<2000, using: &random) { await Task.yield() }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
          }
          let listed = Set(try index(in: folder).map(\.file))
          for name in try files(in: folder) where name.hasSuffix(".txt") {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            #expect(text.hasPrefix("GetPage: call succeeded\n") && text.hasSuffix("call succeeded\n"), "\(name)")
            #expect(listed.contains(name))
          }
          var next = RecordingFolder(folder)
          try next.open()
          let entries = try index(in: folder)
          #expect(try files(in: folder) == [".lock"] + entries.map(\.file) + ["index.json"])
          for entry in entries {
            let path = folder.appendingPathComponent(entry.file).path
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == entry.bytes)
          }
          #expect(entries.map(\.number) == entries.map(\.number).sorted() && entries.count <= recordings)
        }
      }
    }
  }
#endif
