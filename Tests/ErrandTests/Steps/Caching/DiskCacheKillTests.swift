#if os(Linux)
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  @testable import Errand

  /// Processes that are killed while they write to one folder.
  @Suite(.timeLimit(.minutes(3))) struct DiskCacheKillTests {
    /// Starts a process with `posix_spawn` instead of `Process`: see `RecordingKillTests`.
    private func start(_ folder: URL, seed: Int) throws -> pid_t {
      let products = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
      let bench = products.appendingPathComponent("errand-bench").path
      let words = [bench, "cache-write", "--file", folder.path, "--seed", "\(seed)", "--requests", "1000000000"]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var process = pid_t()
      try #require(posix_spawn(&process, bench, nil, nil, &arguments, nil) == 0)
      return process
    }

    /// Kills a process, which must still be running. The process exits if it reads a wrong byte.
    private func end(_ process: pid_t) throws {
      var ending: Int32 = 0
      try #require(waitpid(process, &ending, WNOHANG) == 0, "the process exited by itself with status \(ending)")
      kill(process, SIGKILL)
      waitpid(process, &ending, 0)
    }

    private func key(_ number: Int) -> CacheKey { CacheKey(url: "https://bench.test/\(number)") }

    /// Checks all stored responses and returns their number.
    private func check(_ cache: DiskCache) async throws -> Int {
      var count = 0
      for number in 0..<40 {
        for entry in await cache.entries(for: key(number)) {
          let number = try #require(entry.response.headers["X-Number"].flatMap { Int($0) })
          let body = try await entry.open().collect()
          let isRight =
            body.count % 8 == 0 && body.count == entry.length
            && (0..<(body.count / 8)).allSatisfy { body.number(at: $0 * 8) == UInt64(number + $0) }
          #expect(isRight, "the body of response \(number) is corrupted")
          count += 1
        }
      }
      return count
    }

    @Test
    func `killing two writers ten times leaves no partial or corrupted response`() async throws {
      var random = SeededGenerator(seed: 7)
      try await withFolder { folder in
        let cache = try DiskCache(at: folder, sizeLimit: 16 << 20)
        var processes = [try start(folder, seed: 1), try start(folder, seed: 2)]
        defer { for process in processes { kill(process, SIGKILL) } }
        #expect(try await eventually(within: .seconds(30)) { try await check(cache) > 10 })
        for number in 0..<10 {
          await giveWay(Int.random(in: 0..<500, using: &random))
          _ = try await check(cache)
          try end(processes.removeFirst())
          processes.append(try start(folder, seed: number + 3))
        }
        while !processes.isEmpty { try end(processes.removeFirst()) }
        await cache.trim()
        #expect(try await check(cache) > 0)
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        #expect(!names.contains { $0.hasSuffix(".part") || $0.hasSuffix(".hart") }, "\(names)")
      }
    }
  }
#endif
