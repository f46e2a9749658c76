import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Work that continues after the app has switched the server to another remote and another user.
@Suite(.timeLimit(.minutes(1))) struct KeptSettingsTests {
  private let sent = Shared<[String]>([])

  /// Creates a server with remote and user a.
  private func shop(
    configure: (inout ServerConfiguration) -> Void = { _ in },
    answer: @escaping @Sendable (Int, HTTPRequest) async throws -> HTTPResponse
  ) -> VirtualShop {
    let configure: (inout ServerConfiguration) -> Void = { configuration in
      configuration.authentication = .bearer("a")
      configure(&configuration)
    }
    return VirtualShop(.autoAdvancing, configure: configure) { [sent] number, request, _ in
      sent.withLock { $0.append("\(request.url.host ?? "") \(request.headers[.authorization] ?? "nobody")") }
      return try await answer(number, request)
    }
  }

  private struct GetText: ServerTask, PayloadDownloadingTask {
    typealias DownloadPayload = String
    let path = "text"
  }

  @Test func `an event stream reconnects to its first remote with its first token`() async throws {
    let shop = shop { number, request in
      guard number == 1 else { return .status(204, for: request) }
      return .text("data: hello\n\n", [.contentType: "text/event-stream"], for: request)
    }
    for try await _ in shop.task().events() { await shop.switchUser() }
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["shop.test Bearer a", "shop.test Bearer a", "b.test Bearer b"])
  }

  @Test func `updates() keeps its first remote and its first token`() async throws {
    let shop = shop(configure: { $0.cache = MemoryCache() }) { number, request in
      .text("\(number)", [.cacheControl: "max-age=100"], for: request)
    }
    let task = GetText().on(shop.server)
    _ = try await task.download()
    for try await _ in task.updates() { await shop.switchUser() }
    #expect(sent.withLock { $0 } == ["shop.test Bearer a", "shop.test Bearer a"])
  }

  @Test func `a handle's call keeps the remote and the token with which it started`() async throws {
    for _ in 0..<200 {
      let shop = shop { _, request in .ok(request) }
      let handle: TaskHandle<HTTPResponse> = shop.server.manager.start(shop.task())
      await shop.switchUser()
      _ = try await handle.value
    }
    #expect(Set(sent.withLock { $0 }) == ["shop.test Bearer a"])
  }

  @Test(arguments: [true, false])
  func `a request that is being built during the change keeps its remote and token`(isShared: Bool) async throws {
    let (reached, mayContinue) = (Gate(), Gate())
    let shop = shop(
      configure: {
        $0.coalescesRequests = isShared
        $0.preflight = { _, _ in
          reached.open()
          await mayContinue.wait()
        }
      },
      answer: { _, request in .ok(request) })
    let call = Task { try await shop.task().data() }
    await reached.wait()
    await shop.switchUser()
    mayContinue.open()
    _ = try await call.value
    #expect(sent.withLock { $0 } == ["shop.test Bearer a"])
  }

  @Test func `a background validation uses the remote and the token of the call that starts it`() async throws {
    for _ in 0..<200 {
      let shop = shop(configure: { $0.cache = MemoryCache() }) { number, request in
        .text("\(number)", [.cacheControl: "max-age=0, stale-while-revalidate=600"], for: request)
      }
      _ = try await shop.task().data()
      _ = try await shop.task().data()
      await shop.switchUser()
      #expect(await eventually { shop.sentCount == 2 })
    }
    #expect(Set(sent.withLock { $0 }) == ["shop.test Bearer a"])
  }

  @Test func `an event stream and its retries keep the stream's first cookie jar`() async throws {
    let jars = try ["a", "b"].map { user in
      let jar = CookieJar()
      try jar.set("user=\(user); Secure", from: #require(URL(string: "https://shop.test")))
      return jar
    }
    let cookies = Shared<[String]>([])
    let shop = VirtualShop(.autoAdvancing, configure: { $0.cookiePolicy = .shared(jars[0]) }) { number, request, _ in
      cookies.withLock { $0.append(request.headers[.cookie] ?? "none") }
      return switch number {
      case 1: .text("data: hello\n\n", [.contentType: "text/event-stream"], for: request)
      case 2: .status(503, for: request)
      default: .status(204, for: request)
      }
    }
    for try await _ in shop.task().events() {
      await shop.server.update { $0.cookiePolicy = .shared(jars[1]) }
    }
    try await shop.task().run()
    #expect(cookies.withLock { $0 } == ["user=a", "user=a", "user=a", "user=b"])
  }
}
