import ErrandTesting
import Foundation

@testable import Errand

/// A server with a cache and a stub transport, in virtual time.
struct CachedShop: Sendable {
  let clock = ManualClock()
  let cache: any CacheStore
  let events = EventRecorder()
  let server: Server
  private let log = Shared<[HTTPRequest]>([])

  /// Creates a server whose responses come from `answer`, which receives the request's number, starting at 1.
  init(
    _ cache: any CacheStore = MemoryCache(), configure: (inout ServerConfiguration) -> Void = { _ in },
    answer: @escaping @Sendable (_ number: Int, _ request: HTTPRequest) async throws -> HTTPResponse
  ) {
    self.cache = cache
    var configuration = ServerConfiguration()
    configuration.cache = cache
    configuration.log = .discard
    configuration.userAgent = "tests"
    configuration.retryPolicy = .never
    configuration.observers = [events]
    configure(&configuration)
    let log = log
    server = Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { request in
        let number = log.withLock { log in
          log.append(request)
          return log.count
        }
        return try await answer(number, request)
      }, manager: TaskManager(clock: CallClock(clock), random: CallRandom(SeededGenerator(seed: 7))), environment: [:])
  }

  /// Creates a server that responds with the given headers and the texts "1", "2" and so on.
  init(_ headers: HTTPHeaders, cache: any CacheStore = MemoryCache()) {
    self.init(cache) { number, request in
      HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(Data("\(number)".utf8)))
    }
  }

  /// The requests sent so far.
  var requests: [HTTPRequest] { log.withLock { $0 } }

  var sentCount: Int { requests.count }

  func task(_ path: String = "widgets/7", _ policy: CachePolicy = .inherited) -> Modified<CachedTask> {
    CachedTask(path: path).on(server).caching(policy)
  }

  /// Returns the text of a task's response and its `Cache-Status`.
  func get(_ task: some PayloadDownloadingTask) async throws -> (text: String, status: String) {
    let response = try await task.response()
    return (response.text, response.headers[.cacheStatus] ?? "none")
  }

  func get(_ path: String = "widgets/7", _ policy: CachePolicy = .inherited) async throws -> (
    text: String, status: String
  ) {
    try await get(task(path, policy))
  }

  /// Returns the response text of a task whose request is changed by a closure.
  func text(_ prepare: @escaping @Sendable (inout HTTPRequest) -> Void) async throws -> String {
    try await PreparedTask(prepare: prepare).on(server).download()
  }

  /// Returns the date `seconds` from now, formatted as a header value.
  func date(_ seconds: Double = 0) -> String { HTTPDate.format(server.manager.dates.now + seconds) }
}

struct CachedTask: PayloadDownloadingTask {
  typealias DownloadPayload = String
  let path: String
  var httpMethod = HTTPMethod.automatic
}

/// A task whose request is changed by a closure.
private struct PreparedTask: PayloadDownloadingTask {
  typealias DownloadPayload = String
  let path = "widgets/7"
  let prepare: @Sendable (inout HTTPRequest) -> Void

  func preflight(_ request: inout HTTPRequest) async throws { prepare(&request) }
}

extension HTTPResponse {
  static func text(_ text: String, _ headers: HTTPHeaders = [:], status: HTTPStatus = .ok, for request: HTTPRequest)
    -> HTTPResponse
  {
    HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
  }
}
