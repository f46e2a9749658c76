import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// `verify` of downloads, and what happens if it rejects a response.
@Suite(.timeLimit(.minutes(1))) struct VerifiedDownloadTests {
  private struct Passing: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  /// Reads every body before it returns the response.
  private struct Reading: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      _ = try? await response.body.collect()
      return response
    }
  }

  private struct Forged: Error {}

  /// Expects a download to fail with the error of `verify` and to leave no file.
  private func expectRejectedDownload(from shop: VirtualShop) async throws {
    try await withFolder { folder in
      await #expect(throws: Forged.self) {
        try await shop.task().download(to: folder.appendingPathComponent("file"))
      }
      let left = try files(in: folder)
      #expect(left.isEmpty)
    }
  }

  /// A body of 1 MB that counts the bytes that are read.
  private static func body(_ read: Shared<Int>) -> HTTPResponseBody {
    HTTPResponseBody(
      StreamSource(
        AsyncThrowingStream {
          try Task.checkCancellation()
          let total = read.withLock { read in
            read += 1000
            return read
          }
          return total > 1_000_000 ? nil : Data(count: 1000)
        }))
  }

  @Test(arguments: [false, true]) func `a download that verify rejects reads nothing, with and without steps`(
    hasSteps: Bool
  ) async throws {
    let read = Shared(0)
    let steps = hasSteps ? [Passing()] : []
    let shop = VirtualShop {
      $0.perAttemptSteps = steps
      $0.perCallSteps = steps
      $0.verify = { _, _ in throw Forged() }
    } answer: { _, request, _ in
      HTTPResponse(url: request.url, body: Self.body(read))
    }
    try await expectRejectedDownload(from: shop)
    #expect(read.withLock { $0 } <= 1000 && shop.sentCount == 1)
    #expect(await eventually { shop.manager.runningCount == 0 && shop.events.isBalanced })
  }

  @Test func `verify's error is thrown even if a step reads the rejected body`() async throws {
    let shop = VirtualShop {
      $0.perAttemptSteps = [Reading()]
      $0.verify = { _, _ in throw Forged() }
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    try await expectRejectedDownload(from: shop)
  }

  @Test func `a step can't make verify accept a download whose head it rejected`() async throws {
    struct Signing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        response.headers["X-Signed"] = "1"
        return response
      }
    }
    let shop = VirtualShop {
      $0.perAttemptSteps = [Signing()]
      $0.verify = { _, response in if !response.headers.contains("X-Signed") { throw Forged() } }
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    try await expectRejectedDownload(from: shop)
  }

  @Test func `verify is called for the head that a per-call step returns`() async throws {
    struct Marking: PerCallStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        response.headers["X-Forged"] = "1"
        return response
      }
    }
    let shop = VirtualShop {
      $0.perCallSteps = [Marking()]
      $0.verify = { _, response in if response.headers.contains("X-Forged") { throw Forged() } }
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    await #expect(throws: Forged.self) { try await shop.task().downloadData() }
    try await expectRejectedDownload(from: shop)
  }

  @Test(arguments: [true, false]) func `a TaskError of verify is neither retried nor hidden by a stored response`(
    isFile: Bool
  ) async throws {
    let isForged = Shared(false)
    let shop = CachedShop {
      $0.cachePolicy = .networkFirst()
      $0.retryPolicy = .decided { $0.attempts.count < 4 ? .retry(after: .zero) : .giveUp }
      $0.verify = { _, response in
        if response.headers.contains("X-Forged") { throw TaskError(.badResponse, "forged", response: response) }
      }
    } answer: { _, request in
      .text(
        "\(request.url)", isForged.withLock { $0 } ? ["X-Forged": "1"] : [.cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    isForged.withLock { $0 = true }
    try await withFolder { folder in
      let error = await taskError {
        if isFile {
          _ = try await shop.task().download(to: folder.appendingPathComponent("file"))
        } else {
          _ = try await shop.task().downloadData()
        }
      }
      #expect(error?.code == .badResponse && shop.sentCount == 2)
      let left = try files(in: folder)
      #expect(left.isEmpty)
    }
  }

  @Test func `a response that verify rejects does not remove the stored response`() async throws {
    let answers = [HTTPHeaders(), ["X-Forged": "1", .cacheControl: "no-store"]]
    let shop = CachedShop {
      $0.cachePolicy = .networkFirst()
      $0.verify = { _, response in if response.headers.contains("X-Forged") { throw Forged() } }
    } answer: { number, request in
      guard number <= 2 else { throw TaskError(.offline, "offline", phase: .connecting, wasNotSent: true) }
      var headers = answers[number - 1]
      headers.setDefault("max-age=60", for: .cacheControl)
      return .text("\(number)", headers, for: request)
    }
    _ = try await shop.get()
    await #expect(throws: Forged.self) { try await shop.get() }
    #expect(try await shop.get().text == "1")
  }

  @Test(arguments: [false, true]) func `verify of a download sees the redirects`(hasSteps: Bool) async throws {
    let seen = Shared<[[String]]>([])
    let steps = hasSteps ? [Passing()] : []
    let shop = VirtualShop {
      $0.perAttemptSteps = steps
      $0.verify = { _, response in
        seen.withLock { $0.append(response.redirects.map { $0.url.path() }) }
        if response.url.path() == "/login" { throw Forged() }
      }
    } answer: { _, request, _ in
      let targets = ["/widgets": "/moved", "/moved": "/file", "/secret": "/login"]
      guard let target = targets[request.url.path()] else { return .text("content", for: request) }
      return .status(.found, headers: [.location: target], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let response = try await shop.task().download(to: file).response
      #expect(response.redirects.map { $0.url.path() } == ["/widgets", "/moved"])
      await #expect(throws: Forged.self) { try await shop.task("secret").download(to: file) }
      #expect(try String(contentsOf: file, encoding: .utf8) == "content")
    }
    #expect(Set(seen.withLock { $0 }) == [["/widgets", "/moved"], ["/secret"]])
  }

  @Test func `a request that a step resends has only its own redirects`() async throws {
    struct Twice: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        guard let last = response.request else { return response }
        return try await next(last)
      }
    }
    let shop = VirtualShop {
      $0.perAttemptSteps = [Twice()]
    } answer: { _, request, _ in
      request.url.path() == "/widgets"
        ? .status(.found, headers: [.location: "/moved"], for: request) : .text("content", for: request)
    }
    #expect(try await shop.task().run().redirects.isEmpty)
    #expect(shop.sentCount == 3)
  }

  @Test(arguments: ["plain", "step", "cache"]) func `run() accepts a body longer than maximumBodySize`(
    setting: String
  ) async throws {
    let shop = VirtualShop {
      $0.maximumBodySize = 1000
      if setting == "step" { $0.perCallSteps = [Passing()] }
      if setting == "cache" { $0.cache = MemoryCache() }
    } answer: { _, request, _ in
      let read = Shared(0)
      return HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=60"], body: Self.body(read))
    }
    for count in 1...2 {
      #expect(try await shop.task(method: count == 1 ? .post : .get).run().status == .ok)
      #expect(shop.sentCount == count)
    }
  }
}
