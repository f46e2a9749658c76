import Errand
import Foundation

func configuredServer() -> Server {
  var configuration = ServerConfiguration()
  configuration.standardHeaders["X-Client"] = "warehouse"
  configuration.defaultTimeout = .seconds(10)
  let shop = Server(remote: "https://shop.example.com/v1", configuration: configuration)
  return shop
}

func change(_ shop: Server, observer: any TaskObserver) async {
  await shop.update {
    $0.retryPolicy = .attempts(5)
    $0.timeouts.call = .seconds(20)
    $0.observers.append(observer)
  }
}

func overridden(_ shop: Server) async throws -> Widget {
  let widget = try await GetWidget(id: 7).timeout(.seconds(2)).retry(.never).on(shop).send()
  return widget
}

func serversThatShareLimits() -> [Server] {
  let limits = ThrottleLimits(perHost: 4, total: 16, maximumWaiting: 1000)
  let manager = TaskManager(limits: limits, retryBudget: RetryBudget(ratio: 0.1, capacity: 5))
  let shop = Server(remote: "https://shop.example.com/v1", manager: manager)
  let depot = Server(remote: "https://depot.example.com", manager: manager)
  return [shop, depot]
}

#if os(Linux)
  func serverBehindAProxy(trusting authorities: URL) throws -> Server {
    var configuration = CurlTransport.Configuration()
    configuration.proxies = .environment()
    configuration.tls.authorities = .file(authorities)
    configuration.idleLifetime = .seconds(20)
    configuration.version = .http3
    let shop = Server(remote: "https://shop.example.com/v1", transport: try CurlTransport(configuration))
    return shop
  }
#endif
