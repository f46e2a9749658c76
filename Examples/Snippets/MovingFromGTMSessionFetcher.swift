import Errand
import ErrandTesting
import ErrandTransfers
import Foundation

/// The code of `Docs/moving/FromGTMSessionFetcher.md`.
enum MovingFromGTMSessionFetcher {
  enum Account: TaskContextKey { static let defaultValue = "" }

  /// The app's log.
  struct LogFile: Sendable {
    let chunks: AsyncThrowingStream<Data, any Error>
  }

  static func fetches(_ url: URL, _ file: URL, _ data: Data, open: @escaping @Sendable () -> LogFile) async throws {
    let page = try await URLTask(url).send()
    let answer = try await URLTask(url).response()
    _ = try await URLTask(url, method: .put, body: .bytes(data, type: .json)).send()
    _ = try await URLTask(url, method: .put, body: .file(file)).send()
    _ = try await URLTask(url, method: .put, body: .stream { open().chunks }).send()
    try await URLTask(url).download(to: file)
    let head = try await URLTask(url).stream()
    for try await chunk in head.body { print(chunk.count) }
    try await URLTask(url).progress { print($0.direction, $0.completed, $0.total ?? 0) }.download(to: file)
    _ = try await URLTask(url).cookies(.none).send()
    _ = try await URLTask(url).priority(.high).send()
    _ = try await URLTask(url).authenticated(.basic(user: "ann", password: "secret")).send()
    _ = try await URLTask(url).authenticated(.digest(user: "ann", password: "secret")).send()
    _ = try await URLTask(url).redirects(.decide { response, next in next.url.host == url.host ? next : nil }).send()
    _ = try await URLTask(url).comment("the daily check").context(Account.self, "ann").send()
    let form = MultipartForm([.text("title", "Cog"), .data("photo", data, fileName: "cog.png", type: "image/png")])
    _ = try await URLTask(url, method: .post, body: form.body()).send()
    print(page, answer.metrics.timings?.firstByte ?? .zero, answer.metrics.attemptCount)
  }

  static func failures(_ url: URL) async throws -> Data {
    do {
      return try await URLTask(url).send()
    } catch let error as TaskError where error.code == .badStatus {
      print(error.attempts.count, error.elapsed)
      return error.body
    } catch TaskError.Code.proxyAuthenticationRequired {
      return Data()
    }
  }

  static func settings(
    of shop: Server, _ jar: CookieJar, user: @escaping @Sendable () async -> String,
    keepAwake: @escaping @Sendable () -> @Sendable () -> Void
  ) async {
    await shop.update {
      $0.cookiePolicy = .shared(jar)
      $0.retryPolicy = .attempts(5)
      $0.retryPolicy.maximumDownloadDelay = .seconds(30)
      $0.retryPolicy = .decided { failure in failure.error.status == 503 ? .retry(after: .seconds(2)) : .giveUp }
      $0.perAttemptSteps.append(RequestID())
      $0.userAgentProvider = { await user() }
      $0.insecureHosts = ["printer.local"]
      $0.backgroundActivity = { _ in keepAwake() }
    }
  }

  static func manager(of shop: Server) async {
    await shop.manager.setLimits(ThrottleLimits(perHost: 10))
    print(shop.manager.runningCount, shop.manager.waitingCount)
    let call = Task { try await GetWidget(id: 7).send() }
    call.cancel()
    await shop.manager.cancelAll()
  }

  #if os(Linux)
    static func transport() throws -> Server {
      var configuration = CurlTransport.Configuration()
      let login = Credential(user: "ann", password: "secret")
      configuration.proxies = .all(Proxy(host: "proxy.example.com", port: 3128, credential: login))
      configuration.tls.verification = .dangerouslyNone
      return Server("https://shop.example.com/v1", transport: try CurlTransport(configuration))
    }
  #endif

  static func upload(_ video: URL, to shop: Server) -> ResumableUpload {
    ResumableUpload(of: video, with: AddVideo().on(shop), by: .google)
  }

  static func tests() async throws -> Widget {
    let stub = StubTransport(.json(#"{"id": 7, "name": "Cog"}"#))
    let shop = Server("https://shop.test", transport: stub)
    return try await Server.withDefault(shop) { try await GetWidget(id: 7).send() }
  }
}
