import Errand
import Foundation

// MARK: Poll for changes

struct Change: TaskPayload {
  let id: Int
  let file: String
}

struct GetChanges: GET<[Change]?> {  // nil after a 204
  let since: Int
  let path = "changes"
  var query: [String: Int] { ["since": since, "timeout": 60] }
  let timeout = Duration.seconds(75)  // longer than the server waits
}

struct Changes: AsyncSequence, AsyncIteratorProtocol {
  let server: Server
  var last = 0

  func makeAsyncIterator() -> Self { self }

  mutating func next() async throws -> [Change]? {
    while true {
      guard let changes = try await server.send(GetChanges(since: last)), let newest = changes.last else { continue }
      last = newest.id
      return changes
    }
  }
}

func follow(_ server: Server) async throws {
  for try await changes in Changes(server: server) {
    print(changes.map(\.file))
  }
}

// MARK: Follow a cursor

struct OrderPage: TaskPayload {
  let orders: [String]
  let cursor: String?
}

struct OrdersAfter: GET<OrderPage> {
  var cursor: String?
  let path = "orders"
  var query: HTTPQuery { ["limit": "100", "after": cursor] }
}

func allOrders(_ shop: Server) async throws -> [String] {
  var orders: [String] = []
  var next: OrdersAfter? = OrdersAfter()
  while let task = next {
    let page = try await shop.send(task)
    orders += page.orders
    let cursor = page.cursor ?? ""
    next = cursor.isEmpty ? nil : OrdersAfter(cursor: cursor)
  }
  return orders
}

// MARK: Call a JSON-RPC server

struct RemoteCall<Answer: Decodable & Sendable>: POST<JSONValue, Answer> {
  let method: String
  var parameters: JSONValue = []
  let payloadPath = "result"

  var uploadPayload: JSONValue {
    ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": parameters]
  }

  func postProcess(response: HTTPResponse) async throws {
    let answer: JSONValue = try await response.decoded()
    guard let message = answer["error"]?["message"]?.string else { return }
    throw TaskError(.init("remoteCall"), message, response: response)
  }
}

func height() async throws -> Int {
  let node = Server("https://node.example.com/rpc")
  let height: Int = try await node.send(RemoteCall(method: "getHeight"))
  return height
}

// MARK: Send an API key

func keys(_ key: String) -> [Server] {
  let weather = Server("https://weather.example.com/v1") {
    $0.authentication = .apiKey(key, header: "X-API-Key")
  }

  let query = HTTPQuery(["api_key": key]).encoded
  let maps = Server(Remote("https://maps.example.com/v1?\(query)"))
  return [weather, maps]
}

// MARK: Log in with a session

struct Session: Authenticator {
  let loginURL: URL
  let login: HTTPQuery

  func apply(_ id: String, to request: inout HTTPRequest) { request.headers["X-Session-Id"] = id }

  func refresh(_ id: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    let response = try await context.send(HTTPRequest(.post, loginURL, body: .form(login)))
    guard let id = response.headers["X-Session-Id"] else {
      let reason = "the login returned \(response.status)"
      throw TaskError(.authenticationFailed, reason, response: response, phase: .authenticating)
    }
    return id
  }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { [401, 409].contains(response.status) }
}

func session(_ loginURL: URL, password: String) -> Server {
  let session = Session(loginURL: loginURL, login: ["user": "ann", "password": password])
  let shop = Server("https://shop.example.com/v1") { $0.authentication = .custom(session) }
  return shop
}

// MARK: Talk to a Unix socket

struct Container: TaskPayload {
  let id: String
  let names: [String]
  enum CodingKeys: String, CodingKey { case id = "Id", names = "Names" }
}

#if os(Linux)
  func containers() async throws -> [Container] {
    let docker = Server("http://localhost/v1.43", transport: try CurlTransport(unixSocket: "/var/run/docker.sock"))
    let containers: [Container] = try await docker.send(.get("containers/json", query: ["all": true]))
    return containers
  }
#endif
