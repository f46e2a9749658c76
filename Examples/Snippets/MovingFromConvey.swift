import Errand
import ErrandInspection
import ErrandURLSession
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The code of `Docs/moving/FromConvey.md`.
enum MovingFromConvey {
  struct GetGadget: GET<Widget> {
    let name: String
    var path: String { "gadgets/\(segment: name)" }
    var headers: HTTPHeaders { ["Accept-Language": "en"] }
    var timeout: Duration { .seconds(5) }
    var acceptedStatuses: AcceptedStatuses { .any }
    var serialQueue: SerialQueue { .named("gadgets") }
    var taskTag: String { "search" }
    var cookiePolicy: CookiePolicy { .sending(["session": "abc"]) }
    var retryPolicy: RetryPolicy {
      .decided { failure in failure.attempts.count < 3 ? .retry(after: .seconds(1)) : .giveUp }
    }

    func preflight(_ request: inout HTTPRequest) async throws { request.headers["X-Sent"] = "\(Date.now)" }
    func didFail(with error: any Error) async { print(error) }
  }

  struct Purge: ServerTask {
    let link: URL
    var url: URL { link }
    let httpMethod: HTTPMethod = "PURGE"
  }

  struct AddTag: POST<JSONValue, NoContent> {
    let uploadPayload: JSONValue = ["name": "new", "tags": [1, 2]]
    let path = "tags"
  }

  struct AddPicture: ServerPOSTTask, DataUploadingTask {
    let uploadData: Data
    let uploadType: MediaType = "image/png"
    let path = "pictures"
  }

  struct SignInSilently: ServerPOSTTask, PayloadUploadingTask, UnrecordedTask {
    let uploadPayload: [String: String]
    let path = "login"
  }

  static func servers() async throws -> [Server] {
    let shop = Server(Remote("https://shop.example.com/v1", name: "production"))
    try await shop.setRemote(.staging)
    let depot = Server("https://depot.example.com", asDefault: false)
    Server.default = shop
    return [shop, depot]
  }

  static func transport(_ sessionConfiguration: URLSessionConfiguration) -> Server {
    let shop = Server("https://shop.example.com/v1", transport: .urlSession(sessionConfiguration))
    return shop
  }

  static func settings(of shop: Server, _ decoder: JSONDecoder, expiry: Date) async {
    await shop.update {
      $0.defaultDecoder = decoder
      $0.reportBadHTTPStatusAsError = false
      $0.defaultTimeout = .seconds(10)
      $0.waitsForConnectivity = true
      $0.userAgent = "Shop/2.0"
      $0.standardHeaders["X-Client"] = "warehouse"
      $0.computedHeaders = { task in ["X-Task": task.taskTag] }
      $0.preflight = { task, request in request.headers["X-Task"] = task.taskTag }
      $0.disabled = true
      $0.register(publicKey: "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=", for: "*.example.com", until: expiry)
      $0.enableGZipDownloads = false
      $0.cache = MemoryCache()
      $0.logStyle = .steps
      $0.echoedTasks = ["GetWidget"]
      $0.maxLoggedDownloadSize = 1 << 20
    }
  }

  static func calls(to shop: Server, _ decoder: JSONDecoder, _ file: URL, _ bundled: URL) async throws {
    let widget = try await GetWidget(id: 7).send()
    let answer = try await GetWidget(id: 7).response()
    let data = try await GetWidget(id: 7).data()
    try await GetWidget(id: 7).download(to: file)
    _ = try await GetWidget(id: 7).decoder(decoder).send()
    _ = try await GetWidget(id: 7).caching(.cacheOnly).send()
    _ = try await GetWidget(id: 7).caching(.cacheFirst).send()
    for try await update in GetWidget(id: 7).updates() { print(update.payload) }
    _ = try await GetWidget(id: 7).preloaded(from: bundled).caching(.cacheFirst).send()
    _ = try await GetWidget(id: 7).retry(upTo: 3, after: .seconds(1)).send()
    _ = try await GetWidget(id: 7).replay(from: file).send()
    _ = try await GetWidget(id: 7).echo().send()
    let head = try await GetWidget(id: 7).head()
    let next = answer.response.links.first { $0.relations.contains("next") }?.url
    let time = try await shop.ping()
    await shop.manager.cancel(tag: "search")
    print(widget, data, head.status, next ?? "", time)
  }

  static func errors(_ shop: Server) async throws -> Widget? {
    do {
      return try await shop.send(GetWidget(id: 7))
    } catch let error as TaskError where error.status == 503 {
      return nil
    }
  }

  static func recordings(of shop: Server, in folder: URL) async throws {
    try await shop.manager.recordTaskPath(to: folder)
    print(shop.manager.taskPathURL ?? "")
    await shop.manager.endTaskPathRecording()
    print(shop.manager.statistics[GetWidget.self]?.bytes ?? 0)
  }
}
