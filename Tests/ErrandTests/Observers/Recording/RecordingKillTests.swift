#if os(Linux)
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  @testable import Errand

  /// Records in separate processes, some of which are killed while writing.
  @Suite(.serialized, .timeLimit(.minutes(3))) struct RecordingKillTests {
    /// Starts a process without `Process`, which uses a socket to detect when the child exits. A server started by
    /// another test may inherit that socket, and then the exit is never detected.
    private func start(_ folder: URL, recordings: Int) throws -> pid_t {
      let products = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
      let bench = products.appendingPathComponent("errand-bench").path
      let words = [
        bench, "record", "--file", folder.path, "--concurrency", "64", "--requests", "500000",
        "--recordings", "\(recordings)",
      ]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var process = pid_t()
      try #require(posix_spawn(&process, bench, nil, nil, &arguments, nil) == 0)
      return process
    }

    /// Waits until the index has changed `count` times.
    private func writes(_ count: Int, to folder: URL, by process: pid_t) async throws {
      let index = folder.appendingPathComponent("index.json").path
      // Compare change times, because inode numbers are reused.
      var (seen, last) = (0, timespec())
      let isWritten = try await eventually(within: .seconds(30)) {
        var status = stat()
        if stat(index, &status) == 0, status.st_ctim.tv_nsec != last.tv_nsec || status.st_ctim.tv_sec != last.tv_sec {
          (seen, last) = (seen + 1, status.st_ctim)
        }
        var ending: Int32 = 0
        try #require(waitpid(process, &ending, WNOHANG) == 0, "the process exited early with status \(ending)")
        return seen >= count
      }
      try #require(isWritten)
    }

    private func index(in folder: URL) throws -> [RecordingEntry] {
      try JSONDecoder().decode(
        [RecordingEntry].self, from: Data(contentsOf: folder.appendingPathComponent("index.json")))
    }

    /// The lock of the folder, held until the process exits.
    private static let lock = Shared(Int32(-1))

    private static func exitFolder(of process: pid_t) -> URL {
      FileManager.default.temporaryDirectory.appendingPathComponent("errand-exit-\(process)")
    }

    @Test func `an exiting process writes its last recordings`() async throws {
      let folder = Self.exitFolder(of: getpid())
      defer { try? FileManager.default.removeItem(at: folder) }
      await #expect(processExitsWith: .success) {
        let folder = RecordingKillTests.exitFolder(of: getppid())
        let stub = StubServer(.widget)
        try await stub.server.recordTaskPath(to: folder)
        let lock = open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CLOEXEC)
        try #require(flock(lock, LOCK_EX) == 0)
        RecordingKillTests.lock.withLock { $0 = lock }
        for _ in 0..<20 { _ = try await GetWidget().on(stub.server).download() }
        // Exit handlers run in reverse order of registration, so this handler runs before the recorder's.
        atexit { RecordingKillTests.lock.withLock { _ = close($0) } }
        exit(EXIT_SUCCESS)
      }
      #expect(try index(in: folder).count == 20)
    }

    @Test func `two processes can record concurrently without losing calls`() async throws {
      let folder = Self.exitFolder(of: getpid())
      defer { try? FileManager.default.removeItem(at: folder) }
      func child() async {
        await #expect(processExitsWith: .success) {
          let stub = StubServer(.widget)
          try await stub.server.recordTaskPath(to: RecordingKillTests.exitFolder(of: getppid()), limits: .unlimited)
          await withTaskGroup { group in
            for _ in 0..<8 {
              group.addTask { for _ in 0..<250 { _ = try? await GetWidget().on(stub.server).download() } }
            }
          }
          let lost = await stub.server.endTaskPathRecording()
          exit(lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
      }
      async let first: Void = child()
      async let second: Void = child()
      _ = await (first, second)
      let entries = try index(in: folder)
      #expect(entries.map(\.number).elementsEqual(1...4000))
      #expect(try files(in: folder).count == 4002, "the folder contains 4,000 recordings, the index and the lock")
    }

    @Test(arguments: [20, 1000])
    func `a killed process leaves no partial file and a consistent index`(
      recordings: Int
    ) async throws {
      var random = SeededGenerator(seed: 7)
      try await withFolder { folder in
        for _ in 0..<2 {
          // Two processes run at a time, so one outlives the other.
          var processes = try (0..<2).map { _ in try start(folder, recordings: recordings) }
          defer { for process in processes { kill(process, SIGKILL) } }
          while let process = processes.first {
            try await writes(Int.random(in: 2..<12, using: &random), to: folder, by: process)
            await giveWay(Int.random(in: 0..<2000, using: &random))
            kill(process, SIGKILL)
            var ending: Int32 = 0
            waitpid(process, &ending, 0)
            processes.removeFirst()
          }
          let listed = Set(try index(in: folder).map(\.file))
          for name in try files(in: folder) where name.hasSuffix(".txt") {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            #expect(
              text.hasPrefix("GetPage: call succeeded with 200 OK\n") && text.hasSuffix("call succeeded with 200 OK\n"),
              "\(name)")
            #expect(listed.contains(name))
          }
          var next = RecordingFolder(folder)
          try next.open()
          let entries = try index(in: folder)
          // Don't compare arrays, because printing a diff of thousands of names can exceed the time limit.
          // Don't use name order either, because 10000 sorts before 2000.
          let names = try files(in: folder)
          #expect(names.elementsEqual(([".lock"] + entries.map(\.file) + ["index.json"]).sorted()))
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
