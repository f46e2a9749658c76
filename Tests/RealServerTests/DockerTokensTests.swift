import ErrandTransfers

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Snippets

  /// The authentication guide's example for Docker registries, with a real registry.
  @Suite(
    .enabled(if: DockerRegistry.isExpected, "docker-registry or openssl is not installed"), .timeLimit(.minutes(3)))
  struct DockerTokensTests {
    private struct Tags: ServerGETTask {
      let repository: String
      var path: String { "v2/\(repository)/tags/list" }
      var acceptedStatuses: AcceptedStatuses { .all }
    }

    private let registry: DockerRegistry

    init() async throws { registry = try await DockerRegistry(requiresTokens: true) }

    @Test func `requests one token for each repository and keeps the token`() async throws {
      let server = registry.server(password: "sesame")
      for repository in ["team/app", "team/web", "team/app", "team/web"] {
        #expect(try await Tags(repository: repository).on(server).send().status == .notFound)  // no such repository
      }
      #expect(registry.scopes == ["repository:team/app:pull", "repository:team/web:pull"])
    }

    @Test func `requests another token when a request needs more rights`() async throws {
      let server = registry.server(password: "sesame")
      #expect(try await Tags(repository: "team/app").on(server).send().status == .notFound)
      #expect(try await AddBlob(repository: "team/app").on(server).send().status == .accepted)
      #expect(try await Tags(repository: "team/app").on(server).send().status == .notFound)
      #expect(registry.scopes.map { $0.hasSuffix(":pull") } == [true, false])
    }

    @Test func `an incorrect password fails with the token service's status`() async throws {
      let server = registry.server(password: "barley")
      let error = await #expect(throws: TaskError.self) { try await Tags(repository: "a/b").on(server).send() }
      #expect(error?.code == .authenticationFailed && error?.status == .unauthorized)
      #expect(registry.tokens?.requests.count == 1)
    }

    @Test func `an upload uses the repository's token for every request`() async throws {
      try await DockerRegistry.withLayer { file, data in
        let server = registry.server(password: "sesame")
        let answer = try await registry.upload(file, to: server).run()
        #expect(registry.scopes.count == 1)
        #expect(try await registry.stored(answer, on: server) == data)
      }
    }
  }
#endif
