import Errand
import Foundation

/// The code of `Docs/moving/FromNitroConnection.md`.
enum MovingFromNitroConnection {
  struct MarkAsRead: ServerPOSTTask {
    let id: Int
    let path = "news/mark-as-read"
    var parameters: [String: Int] { ["news-id": id] }
    let encoder = FormEncoder()
    func willStart() async { print("started") }
    func didComplete(with response: HTTPResponse) async { print(response.status) }
    func didFail(with error: any Error) async { print(error) }
  }

  struct GetVideos: ServerGETTask {
    let id: Int
    let path = "videos"
    var parameters: [String: Int] { ["video-id": id] }
    var timeout: Duration { .seconds(3) }
    var cachePolicy: CachePolicy { .reload }
    var serialQueue: SerialQueue { .named("videos") }
  }

  static func requests(_ shop: Server) async throws {
    try await MarkAsRead(id: 1872).send()
    let data = try await GetVideos(id: 900).data()
    let head = try await GetVideos(id: 900).head()
    shop.manager.start(MarkAsRead(id: 1872))
    let loading = shop.manager.start(GetVideos(id: 900), lifetime: .scoped)
    for await event in loading.events { print(event.moment) }
    print(loading.state.isOver, data, head.headers[.contentType] ?? "")
    loading.cancel()
    loading.retry()
    print(try await loading.value.url)
  }

  static func settings(of shop: Server, _ authentication: Authentication) async throws {
    await shop.update {
      $0.defaultTimeout = .seconds(3)
      $0.cachePolicy = .networkFirst()
      $0.authentication = authentication.forPaths(below: "/v1/private")
    }
    await shop.update { $0.authentication = .none }
    try await authentication.forget()
  }

  static func signIn(
    _ tokenURL: URL, secret: String, _ folder: URL, parse: @escaping @Sendable (Data, Date) throws -> AccessToken
  ) -> Authentication {
    var signIn = OAuth2(
      tokenURL: tokenURL, client: .init(id: "warehouse", secret: secret), grant: .clientCredentials)
    signIn.store = FileSecretStore(folder: folder)
    signIn.tokenRequest = { exchange in try exchange.request() }
    signIn.tokenParser = { response, body, now in try parse(body, now) }
    return .oauth2(signIn)
  }

  static func errors(_ shop: Server) async throws -> Data {
    do {
      return try await GetVideos(id: 900).data()
    } catch let error as TaskError where error.status?.kind == .clientError {
      return error.body
    }
  }
}
