import Errand
import ErrandOpenAPI
import ErrandTesting
import Foundation
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime
import Testing

/// Tests the transport with the runtime's client, as generated code uses it.
struct GeneratedClientTests {
  /// Sends a text as a generated operation does, and returns the response's status and text.
  private func list(_ shop: Shop, _ text: String? = nil) async throws -> String {
    let client = UniversalClient(serverURL: shop.mock.url, transport: ErrandTransport(shop.server))
    return try await client.send(input: text, forOperation: "listWidgets") { text in
      let request = HTTPTypes.HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/widgets")
      return (request, text.map { OpenAPIRuntime.HTTPBody($0) })
    } deserializer: { response, body in
      let text = try await String(collecting: #require(body), upTo: 100)
      return "\(response.status.code) \(text)"
    }
  }

  @Test func `an operation sends its text and returns the response's`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.text("seven", status: 201))
    #expect(try await list(shop, "in") == "201 seven")
    #expect(try await shop.mock.nextRequest().body == Data("in".utf8))
  }

  @Test func `ClientError wraps the call's error`() async throws {
    let shop = try await Shop { $0.retryPolicy = .never }
    shop.mock.enqueue(.raw(Data()))
    let error = await #expect(throws: ClientError.self) { try await list(shop) }
    #expect((error?.underlyingError as? TaskError)?.code == .connectionLost, "\(error.map { "\($0)" } ?? "")")
    #expect(error?.operationID == "listWidgets" && error?.response == nil)
  }

  @Test func `a truncated body is an error with its response`() async throws {
    let shop = try await Shop { $0.retryPolicy = .never }
    shop.mock.enqueue(.truncated(body: Data("whole".utf8), after: 3))
    let error = await #expect(throws: ClientError.self) { try await list(shop) }
    #expect((error?.underlyingError as? TaskError)?.code == .truncatedBody, "\(error.map { "\($0)" } ?? "")")
    #expect(error?.response?.status == .ok)
  }

  @Test func `ClientError wraps a cancellation, which ends the exchange`() async throws {
    let shop = try await Shop()
    shop.mock.enqueue(.hang)
    let call = Task { try await list(shop) }
    _ = try await shop.mock.nextRequest()
    call.cancel()
    let error = await #expect(throws: ClientError.self) { try await call.value }
    #expect(error?.underlyingError is CancellationError)
    try await shop.mock.waitForOpenConnections(0)
  }
}
