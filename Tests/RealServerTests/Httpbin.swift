#if os(Linux)
  import Foundation

  /// An httpbin server with one thread per connection.
  final class Httpbin: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected = interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    private static let interpreter = Python.interpreter(with: "httpbin")

    init() async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(reason: "python3 with the package httpbin is not installed")
      }
      server = try await LocalServer(interpreter) { port, _ in
        Self.script.replacingOccurrences(of: "PORT", with: "\(port)")
      } arguments: {
        ["\($0)/configuration"]
      }
      url = try server.url("http")
    }

    private static let script = #"""
      import logging
      from httpbin import app
      from werkzeug.serving import WSGIRequestHandler

      WSGIRequestHandler.protocol_version = "HTTP/1.1"
      logging.getLogger("werkzeug").disabled = True
      app.run("127.0.0.1", int("PORT"), threaded=True)
      """#
  }
#endif
