#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Ten thousand tasks in a window with a server that accepts any number of connections.
  @Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
  struct NginxWindowTests {
    private struct Fetch: PayloadDownloadingTask {
      typealias DownloadPayload = String
      let server: Server
      let path = "hello"
    }

    /// A step that counts new connections.
    private final class Connections: PerAttemptStep {
      let count = Shared(0)

      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        if !response.isConnectionReused { count.withLock { $0 += 1 } }
        return response
      }
    }

    /// Returns the number of established connections to a local port, according to the kernel.
    private static func established(to port: Int) throws -> Int {
      // Read until the end of the file, because the kernel reports its size as zero.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
      let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      let suffix = ":\(hexadecimal(port))"
      // Count client addresses, because a table that changes while it is read may repeat a row.
      let clients = table.split(separator: "\n").compactMap { row -> Substring? in
        let words = row.split(separator: " ")
        return words.count > 3 && words[3] == "01" && words[1].hasSuffix(suffix) ? words[2] : nil
      }
      return Set(clients).count
    }

    private static func hexadecimal(_ port: Int) -> String {
      let digits = String(port, radix: 16, uppercase: true)
      return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    @Test func `10,000 tasks in a window of 16 use at most 16 connections at once`() async throws {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)])
      let port = try #require(nginx.url.port)
      let (transport, made) = try (CurlTransport(), Connections())
      var configuration = ServerConfiguration()
      configuration.log = .discard
      configuration.perAttemptSteps = [made]
      let server = Server(
        Remote(nginx.url), configuration: configuration, transport: transport,
        manager: TaskManager(limits: .unlimited))
      let tasks = repeatElement(Fetch(server: server), count: 10_000)
      let most = try await server.manager.withResults(of: tasks, limit: 16) { results in
        var (count, most) = (0, 0)
        for await (_, result) in results {
          let text = try result.get()
          #expect(text == "hello\n")
          count += 1
          guard count % 50 == 0 else { continue }
          #expect(await transport.connections().values.allSatisfy { $0.open <= 16 })
          guard count % 1000 == 0 else { continue }
          most = max(most, try Self.established(to: port))
        }
        #expect(count == 10_000)
        return most
      }
      #expect((2...16).contains(most))
      if keepsConnections {
        // The transport's loops don't share connections, and the tasks are not always distributed evenly.
        #expect((2...32).contains(made.count.withLock { $0 }), "the tasks reuse their connections")
      }
    }
  }
#endif
