import Errand
import Foundation

func configuredServer() -> Server {
  let shop = Server("https://shop.example.com/v1") {
    $0.standardHeaders["X-Client"] = "warehouse"
    $0.defaultTimeout = .seconds(10)
  }
  return shop
}

extension Remote {
  static let staging = Remote("https://staging.example.com/v1", name: "staging", shortName: "stg")
  static let production = Remote("https://shop.example.com/v1", name: "production")
}

func serverFromEnvironment() throws -> Server {
  let remote = try Remote.fromEnvironment("SHOP_REMOTE", among: [.staging, .production], default: .production)
  let shop = Server(remote) { $0.defaultTimeout = .seconds(10) }
  return shop
}

func change(_ shop: Server, observer: any TaskObserver) async {
  await shop.update {
    $0.retryPolicy = .attempts(5)
    $0.timeouts.call = .seconds(20)
    $0.observers.append(observer)
  }
}

func renamed(_ shop: Server) async {
  await shop.setStandardHeaders(["Accept": "application/json", "X-Client": "kiosk"])
}

func moved(_ shop: Server) async throws {
  try await shop.setRemote(.staging)
}

func secondServer(_ shop: Server) -> Server {
  let depot = Server("https://depot.example.com", asDefault: false)
  Server.default = shop
  return depot
}

func copy(of shop: Server) -> Server {
  let copy = Server("https://eu.shop.example.com/v1", configuration: shop.configuration)
  return copy
}

/// The system's power management.
protocol PowerManagement: Sendable {
  func keepAwake(for reason: String) -> any PowerAssertion
}

protocol PowerAssertion: Sendable {
  func end()
}

func awake(_ shop: Server, system: any PowerManagement) async {
  await shop.update {
    $0.backgroundActivity = { task in
      let assertion = system.keepAwake(for: task.taskTag)
      return { assertion.end() }
    }
  }
}

func overridden(_ shop: Server) async throws -> Widget {
  let widget = try await GetWidget(id: 7).timeout(.seconds(2)).retry(.never).on(shop).send()
  return widget
}

func serversThatShareLimits() -> [Server] {
  let limits = ThrottleLimits(perHost: 4, total: 16, maximumWaiting: 1000)
  let manager = TaskManager(limits: limits, retryBudget: RetryBudget(ratio: 0.1, capacity: 5))
  let shop = Server("https://shop.example.com/v1", manager: manager)
  let depot = Server("https://depot.example.com", manager: manager)
  return [shop, depot]
}

#if os(Linux)
  func serverBehindAProxy(trusting authorities: URL) throws -> Server {
    var configuration = CurlTransport.Configuration()
    configuration.proxies = .environment()
    configuration.tls.authorities = .file(authorities)
    configuration.idleLifetime = .seconds(20)
    configuration.version = .http3
    let shop = Server("https://shop.example.com/v1", transport: try CurlTransport(configuration))
    return shop
  }

  func serverBehindAProxy(
    with credential: Credential, ask: @escaping @Sendable (Credential?) async -> Credential?
  ) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    var proxy = Proxy(.socks5, host: "proxy.example.com", port: 1080, credential: credential)  // or .http, .https
    proxy.renewCredential = { rejected in await ask(rejected) }  // after a 407, up to twice; nil gives up
    configuration.proxies = .all(proxy, except: ["*.internal.example.com"])
    return try CurlTransport(configuration)
  }
#endif

enum NextSteps {
  struct RemoveWidget: DELETE<NoContent> {
    let id: Int
    var path: String { "widgets/\(id)" }
  }

  static func remove(with token: String) async throws {
    // SHOP_REMOTE=staging selects the other server.
    let remote = try Remote.fromEnvironment("SHOP_REMOTE", among: [.staging, .production], default: .production)
    let shop = Server(remote) { $0.authentication = .bearer(token) }
    do {
      try await shop.send(RemoveWidget(id: 7))
    } catch let error as TaskError where error.status == .notFound {
      print("there is no widget 7")
    }
  }
}
