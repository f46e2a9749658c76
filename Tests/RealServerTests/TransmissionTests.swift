#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @testable import Snippets

  /// The authentication guide's example for transmission, with a real daemon.
  @Suite(.enabled(if: Transmission.isExpected, "transmission-daemon is not installed"), .timeLimit(.minutes(3)))
  struct TransmissionTests {
    private struct SessionGet: POST<[String: String], SessionGet.Answer> {
      struct Answer: Decodable, Sendable {
        struct Arguments: Decodable, Sendable { let version: String }
        let result: String
        let arguments: Arguments
      }
      let uploadPayload = ["method": "session-get"]
      var path: String { "transmission/rpc" }
    }

    private let daemon: Transmission

    init() async throws { daemon = try await Transmission() }

    private func server(password: String = "sesame") async -> Server {
      let server = Server(daemon.url, asDefault: false) { $0.log = .discard }
      await transmission(server, password: password)
      return server
    }

    @Test func `reads the session ID from the 409 and sends the ID with the password`() async throws {
      let server = await server()
      for round in 0..<3 {
        let response = try await SessionGet().on(server).response()
        #expect(response.payload.result == "success" && !response.payload.arguments.version.isEmpty)
        #expect("\(response.record)".contains("waiting for a new token") == (round == 0))
      }
    }

    @Test func `concurrent calls share the session ID`() async throws {
      let server = await server()
      let results = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<10 { group.addTask { try await server.send(SessionGet()).result } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(results == Array(repeating: "success", count: 10))
    }

    @Test func `an incorrect password throws an error with the status 401`() async throws {
      let server = await server(password: "barley")
      let error = await #expect(throws: TaskError.self) { try await server.send(SessionGet()) }
      #expect(error?.status == .unauthorized)
    }
  }

  /// A private transmission daemon that requires a password and has no peers. It stops when it is released.
  final class Transmission: Sendable {
    static let isExpected = LocalServer.isExpected("transmission-daemon")

    let url: URL
    private let server: LocalServer

    init() async throws {
      server = try await LocalServer("transmission-daemon") { port, _ in
        "-p \(port) -r 127.0.0.1 -t -u ann -v sesame -i 127.0.0.1 -P 0 --no-dht --no-lpd --no-utp --no-portmap"
      } arguments: { folder in
        let configuration = (try? String(contentsOfFile: "\(folder)/configuration", encoding: .utf8)) ?? ""
        return ["-f", "-g", folder, "--log-error"] + configuration.split(separator: " ").map { "\($0)" }
      }
      url = try server.url("http")
    }
  }
#endif
