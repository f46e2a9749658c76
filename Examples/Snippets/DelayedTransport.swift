import Errand

/// Simulates a slow network.
struct DelayedTransport: Transport {
  let delay: Duration
  var carrier: any Transport = .platform

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await Task.sleep(for: delay)
    return try await carrier.send(request)
  }
}

func slowServer() -> Server {
  let shop = Server("https://shop.example.com/v1", transport: DelayedTransport(delay: .seconds(2)))
  return shop
}
