import Errand
import Foundation

func wayOfAWidget(from shop: Server, log: LogOutput) async throws {
  let result = try await shop.response(GetWidget(id: 7))
  log.write("\(result.payload.name) came from \(result.response.url)")
  for redirect in result.response.redirects {
    log.write("\(redirect.method) \(redirect.url): \(redirect.status), \(redirect.headers["X-Cache"] ?? "no cache")")
  }
}

func preview(of url: URL, by shop: Server) async throws -> Data {
  let preview = try await URLTask(url).addresses(.publicOnly).cookies(.none).redirects(.follow(maximum: 5)).on(shop)
    .send()
  return preview
}

func clusterPolicy() -> AddressPolicy {
  let cluster = AddressPolicy.allowing { address, origin in
    address.isPublic || (address.bytes.starts(with: [10, 42]) && address.port == 443)
  }
  return cluster
}

func target(of shop: Server) async throws -> String? {
  await shop.update { $0.redirectPolicy = .sameOrigin }
  let found = try await GetWidget(id: 7).redirects(.refuse).accepting(.only(200, 302)).on(shop).run()
  let target = found.headers[.location]
  return target
}

func login(
  at shop: Server, signed: @escaping @Sendable (HTTPRequest) async throws -> HTTPRequest
) async throws -> HTTPResponse {
  let login = try await GetWidget(id: 7)
    .redirects(
      .decide { response, next in
        guard next.url.scheme == "https" else { return nil }  // the app's custom scheme
        return try await signed(next)
      }
    )
    .accepting(.all).on(shop).run()
  return login
}

func pinned(_ shop: Server, currentKey: String, backupKey: String, partnerKey: String, nextRotation: Date) async {
  await shop.update {
    $0.register(publicKey: "sha256/" + currentKey, for: "shop.example.com")
    $0.register(publicKey: "sha256/" + backupKey, for: "shop.example.com")
    $0.register(publicKey: "sha256/" + partnerKey, for: "*.partner.example", until: nextRotation)
  }
}

#if os(Linux)
  func developmentServer(_ developmentAuthority: URL) throws -> Server {
    var configuration = CurlTransport.Configuration()
    configuration.tls.authorities = .file(developmentAuthority)  // PEM; replaces the system's authorities
    let shop = Server("https://localhost:8443", transport: try CurlTransport(configuration))
    return shop
  }
#endif
