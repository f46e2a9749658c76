import Errand
import ErrandInspection
import ErrandTesting
import ErrandTransfers
import ErrandURLSession
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The code of `Docs/moving/FromAlamofire.md`.
enum MovingFromAlamofire {
  struct DeleteWidget: DELETE<NoContent> {
    let path = "widgets/7"
  }

  struct Stamp: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers["X-Stamp"] = "\(Date.now.timeIntervalSince1970)"
      return try await next(request)
    }
  }

  static func transport(_ configuration: URLSessionConfiguration) -> Server {
    let shop = Server("https://shop.example.com/v1", transport: .urlSession(configuration))
    return shop
  }

  static func requests(_ shop: Server, _ url: URL, _ file: URL, _ link: URL) async throws {
    let widget = try await GetWidget(id: 7).send()
    let answer = try await GetWidget(id: 7).response()
    let text: String = try await shop.send(.get("motd"))
    let data = try await URLTask(url).send()
    let stream = try await URLTask(url).stream()
    for try await chunk in stream.body { print(chunk.count) }
    try await shop.send(DeleteWidget())
    try await URLTask(url, method: .put, body: .file(file)).progress { print($0.fraction ?? 0) }.run()
    try await URLTask(url).download(to: file)
    let backup = ResumableDownload(URLTask(url), to: file)
    try await backup.run()
    _ = try await AddWidget(uploadPayload: widget).encoder(FormEncoder()).send()
    _ = try await GetWidget(id: 7).header(.authorization, "Bearer t0ken").accepting(.only(200, 404)).send()
    _ = try await GetWidget(id: 7).redirects(.refuse).accepting(.all).run()
    _ = try await GetWidget(id: 7).authenticated(.basic(user: "ann", password: "secret")).send()
    print(answer.payload, answer.metrics.elapsed, text, data)
  }

  static func bracketed(_ tags: [String]) throws -> HTTPQuery {
    try HTTPQuery(encoding: ["tag": tags], FormStyle(lists: .brackets))
  }

  static func handles(_ shop: Server) async throws {
    let call = shop.manager.start(GetWidget(id: 7).on(shop))
    call.pause()
    call.resume()
    call.cancel()
    print(try await call.value)
    await shop.manager.cancelAll()
  }

  static func settings(of shop: Server, _ signIn: Authentication, expiry: Date) async {
    await shop.update {
      $0.retryPolicy = .attempts(5)
      $0.perAttemptSteps.append(Stamp())
      $0.authentication = signIn
      $0.register(publicKey: "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=", for: "*.example.com", until: expiry)
      $0.redirectPolicy = .sameOrigin
      $0.cache = MemoryCache()
      $0.waitsForConnectivity = true
      $0.connectivityTimeout = .seconds(5)
      $0.observers.append(SlowCalls())
      $0.gzipUploadThreshold = 1024
      $0.standardHeaders["X-Client"] = "warehouse"
      $0.defaultDecoder = JSONDecoder()
      $0.defaultTimeout = .seconds(60)
    }
  }

  static func errors(_ shop: Server) async throws -> String {
    do {
      return try await shop.send(GetWidget(id: 7)).name
    } catch let error as TaskError {
      switch error.code {
      case .badStatus: return error.bodyText ?? ""
      case .decodingFailed: return "\(error.underlying ?? error)"
      default: return error.reason
      }
    }
  }

  static func command(_ url: URL) -> String {
    HTTPRequest(.get, url).curlCommand()
  }

  static func tests() throws -> [Server] {
    let stub = StubTransport([.status(503), .json(#"{"id": 7, "name": "Cog"}"#)])
    let mock = try MockServer()
    return [Server("https://shop.test", transport: stub), Server(mock.url)]
  }
}
