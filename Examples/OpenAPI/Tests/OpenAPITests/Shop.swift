import Errand
import ErrandOpenAPI
import ErrandTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

/// A shop with a mock server, used through a generated client's transport.
struct Shop {
  let mock: MockServer
  let server: Server
  let events = EventRecorder()

  init(configure: @Sendable (inout ServerConfiguration) -> Void = { _ in }) async throws {
    mock = try MockServer()
    server = Server(Remote(mock.url), manager: TaskManager())
    let events = events
    await server.update {
      $0.retryPolicy = .fixed(retries: 1, delay: .zero)
      $0.observers = [events]
      configure(&$0)
    }
  }

  /// Sends an operation in the same way as generated code: with a path but without a host.
  func send(
    _ method: HTTPTypes.HTTPRequest.Method = .get, _ path: String = "/widgets", below base: String? = nil,
    fields: HTTPFields = [:], body: OpenAPIRuntime.HTTPBody? = nil, as operation: String = "listWidgets"
  ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
    let request = HTTPTypes.HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
    let url = try base.map { try #require(URL(string: $0)) } ?? mock.url
    return try await ErrandTransport(server).send(request, body: body, baseURL: url, operationID: operation)
  }
}
