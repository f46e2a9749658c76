import Errand

/// The app's token source.
protocol TokenSource: Sendable {
  func current() async throws -> String
}

func configuration(_ tokens: any TokenSource) -> Server {
  let shop = Server("https://shop.example.com/v1") {
    $0.authentication = .bearer { try await tokens.current() }
    $0.defaultTimeout = .seconds(10)
  }
  return shop
}

func configuration(_ shop: Server, _ tokens: any TokenSource) async {
  await shop.update {
    $0.authentication = .bearer { try await tokens.current() }
    $0.defaultTimeout = .seconds(10)
  }
}
