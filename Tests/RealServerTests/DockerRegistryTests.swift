import ErrandTransfers

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Snippets

  /// The uploads guide's example for Docker registries, with a real registry.
  @Suite(
    .enabled(if: DockerRegistry.isExpected, "docker-registry or openssl is not installed"), .timeLimit(.minutes(3)))
  struct DockerRegistryTests {
    private let registry: DockerRegistry
    private let server: Server

    init() async throws {
      registry = try await DockerRegistry()
      server = registry.server()
    }

    @Test(arguments: [300_000, 250_000, .max]) func `uploads a file in chunks or in one request`(chunk: Int)
      async throws
    {
      try await DockerRegistry.withLayer { file, data in
        let answer = try await registry.upload(file, to: server, chunk: chunk).run()
        #expect(answer.status == .created && answer.headers["Docker-Content-Digest"]?.hasPrefix("sha256:") == true)
        #expect(try await registry.stored(answer, on: server) == data)
      }
    }

    private struct Enough: Error {}

    /// Throws before a request with a body that starts at `offset`.
    private func stop(_ server: Server, at offset: Int) async {
      await server.update { configuration in
        configuration.preflight = { _, request in
          if request.headers[.contentRange]?.hasPrefix("\(offset)-") == true { throw Enough() }
        }
      }
    }

    @Test func `a later run resumes an upload at the registry's offset`() async throws {
      try await DockerRegistry.withLayer { file, data in
        await stop(server, at: 600_000)
        await #expect(throws: Enough.self) { try await registry.upload(file, to: server).run() }
        let seen = Shared<[String]>([])
        await server.update { configuration in
          configuration.preflight = { _, request in
            seen.withLock { $0.append("\(request.method) \(request.headers[.contentRange] ?? "-")") }
          }
        }
        let answer = try await registry.upload(file, to: server).run()
        #expect(seen.withLock { $0 } == ["GET -", "PATCH 600000-899999", "PUT -"])
        #expect(try await registry.stored(answer, on: server) == data)
      }
    }

    @Test func `discard removes the upload, and the next run starts over`() async throws {
      try await DockerRegistry.withLayer { file, data in
        await stop(server, at: 300_000)
        let first = registry.upload(file, to: server)
        await #expect(throws: Enough.self) { try await first.run() }
        let location = try #require(first.location)
        try await first.discard()
        #expect(try await URLTask(location).on(server).accepting(.all).send().status == .notFound)
        await server.update { $0.preflight = nil }
        #expect(try await registry.stored(try await registry.upload(file, to: server).run(), on: server) == data)
      }
    }

    @Test func `an upload that is cancelled repeatedly is stored correctly`() async throws {
      try await DockerRegistry.withLayer { file, data in
        for fraction in [0.2, 0.5, 0.8] {
          let upload = registry.upload(file, to: server, chunk: 200_000)
          let states = upload.states
          let run = Task { try await upload.run() }
          for await state in states where (state.progress?.fraction ?? 0) > fraction { upload.cancel() }
          _ = await run.result
        }
        let answer = try await registry.upload(file, to: server).run()
        #expect(try await registry.stored(answer, on: server) == data)
      }
    }

    @Test func `uploads bytes of unknown length`() async throws {
      try await DockerRegistry.withLayer { _, data in
        let upload = ResumableUpload(
          named: "layer", with: AddBlob(repository: "team/app").on(server), by: RegistryUpload(), chunkSize: 300_000
        ) { offset, count in Data(data.dropFirst(Int(offset)).prefix(count)) }
        let answer = try await upload.run()
        #expect(try await registry.stored(answer, on: server) == data)
      }
    }
  }
#endif
