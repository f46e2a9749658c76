import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Downloads that are made only if the file has changed, together with steps, the cache and other calls.
@Suite(.timeLimit(.minutes(1))) struct CurrentFileTests {
  @Test func `a file is downloaded again in the language that a step selects`() async throws {
    struct Speaking: PerAttemptStep {
      let language: Shared<String>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.acceptLanguage] = language.withLock { $0 }
        return try await next(request)
      }
    }
    let language = Shared("de")
    let shop = VirtualShop {
      $0.perAttemptSteps = [Speaking(language: language)]
    } answer: { _, request, _ in
      let headers: HTTPHeaders = [.lastModified: "Tue, 01 Sep 2026 10:00:00 GMT", .vary: "Accept-Language"]
      if request.headers.contains(.ifModifiedSince) { return .status(.notModified, headers: headers, for: request) }
      return .text(request.headers[.acceptLanguage] ?? "none", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for (wanted, isUnchanged) in [("de", false), ("fr", false), ("fr", true), ("de", false)] {
        language.withLock { $0 = wanted }
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
        #expect(try String(contentsOf: file, encoding: .utf8) == wanted)
      }
    }
  }

  @Test(arguments: ["header", "preflight"]) func `a Range field is not compared with the version of the entire file`(
    place: String
  ) async throws {
    let isPart = Shared(false)
    let shop = VirtualShop {
      $0.preflight = { _, request in
        if place == "preflight", isPart.withLock({ $0 }) { request.headers[.range] = "bytes=0-3" }
      }
    } answer: { _, request, _ in
      if request.headers.contains(.ifNoneMatch) { return .status(.notModified, for: request) }
      guard request.headers.contains(.range) else { return .text("content", [.eTag: "\"1\""], for: request) }
      return .text("cont", ["Content-Range": "bytes 0-3/7"], status: 206, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      isPart.withLock { $0 = true }
      let task = place == "header" ? shop.task().header(.range, "bytes=0-3") : shop.task()
      _ = try await task.download(to: file, when: .changed)
      #expect(try String(contentsOf: file, encoding: .utf8) == "cont")
    }
  }

  @Test(arguments: [true, false]) func `an older response of another cache does not replace a newer file`(
    isFresh: Bool
  ) async throws {
    let version = Shared(1)
    let shops = (0..<2).map { _ in
      CachedShop { _, request in
        let version = version.withLock { $0 }
        if version == 3 { return .status(.serviceUnavailable, for: request) }
        let headers: HTTPHeaders = [
          .eTag: "\"\(version)\"", .cacheControl: "stale-if-error=600, max-age=\(isFresh ? 600 : 0)",
        ]
        if request.headers[.ifNoneMatch] == headers[.eTag] {
          return .status(.notModified, headers: headers, for: request)
        }
        return .text("\(version)", headers, for: request)
      }
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shops[0].task().download(to: file, when: .changed)
      version.withLock { $0 = 2 }
      _ = try await shops[1].task().download(to: file, when: .changed)
      if !isFresh { version.withLock { $0 = 3 } }
      let error = await taskError {
        let response = try await shops[0].task().download(to: file, when: .changed)
        #expect(response.isUnchanged)
      }
      #expect(error?.status == (isFresh ? nil : .serviceUnavailable))
      #expect(try String(contentsOf: file, encoding: .utf8) == "2")
    }
  }

  /// Answers `.changed` downloads of version 1, and fails the second request after it has called `inBetween`.
  private func flakyShop(_ inBetween: @escaping @Sendable () throws -> Void) -> (VirtualShop, Shared<[String]>) {
    let seen = Shared<[String]>([])
    let shop = VirtualShop(.autoAdvancing) {
      $0.retryPolicy = .fixed(retries: 1, delay: .zero)
    } answer: { number, request, _ in
      seen.withLock { $0.append(request.headers[.ifNoneMatch] ?? "-") }
      if number == 2 {
        try inBetween()
        return .unavailable(request)
      }
      return request.headers[.ifNoneMatch] == "\"1\""
        ? .status(.notModified, for: request) : .text("server", [.eTag: "\"1\""], for: request)
    }
    return (shop, seen)
  }

  @Test(arguments: [true, false]) func `a retry downloads a file that was removed or edited in the meantime`(
    isRemoved: Bool
  ) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let (shop, seen) = flakyShop {
        if isRemoved {
          try FileManager.default.removeItem(at: file)
        } else {
          try Data("edited by the app".utf8).write(to: file)
        }
      }
      _ = try await shop.task().download(to: file, when: .changed)
      #expect(try await !shop.task().download(to: file, when: .changed).isUnchanged)
      #expect(try String(contentsOf: file, encoding: .utf8) == "server")
      #expect(seen.withLock { $0 } == ["-", "\"1\"", "-"])
    }
  }

  @Test(arguments: [true, false]) func `a step's other request does not change whether the file is current`(
    isFirst: Bool
  ) async throws {
    struct Auditing: PerCallStep {
      let isFirst: Bool
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let audit = HTTPRequest(.post, .known("https://shop.test/audit"))
        if isFirst { _ = try await next(audit) }
        let response = try await next(request)
        if !isFirst { _ = try await next(audit) }
        return response
      }
    }
    let shop = CachedShop {
      $0.perCallSteps = [Auditing(isFirst: isFirst)]
    } answer: { _, request in
      .text("content", [.eTag: "\"1\"", .cacheControl: "max-age=60"], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for isUnchanged in [false, true] {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
      }
    }
  }

  @Test func `a signature covers the file's conditions`() async throws {
    struct Signing: Authenticator {
      func apply(_ token: String, to request: inout HTTPRequest) throws {
        request.headers["X-Signature"] = Self.signature(of: request)
      }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        "key"
      }
      static func signature(of request: HTTPRequest) -> String {
        [HTTPHeaderName.acceptLanguage, .ifNoneMatch].map { request.headers[$0] ?? "-" }.joined(separator: " ")
      }
    }
    struct Speaking: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.acceptLanguage] = "de"
        return try await next(request)
      }
    }
    let shop = VirtualShop {
      $0.authentication = .custom(Signing())
      $0.perAttemptSteps = [Speaking()]
    } answer: { _, request, _ in
      guard request.headers["X-Signature"] == Signing.signature(of: request) else {
        return .status(.forbidden, for: request)
      }
      let headers: HTTPHeaders = [.eTag: "\"1\"", .vary: "Accept-Language"]
      return request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, headers: headers, for: request) : .text("de", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for isUnchanged in [false, true] {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
      }
    }
  }

  @Test func `a step can remove the file's conditions`() async throws {
    struct Forcing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers.remove(.ifNoneMatch)
        return try await next(request)
      }
    }
    let shop = VirtualShop {
      $0.perAttemptSteps = [Forcing()]
    } answer: { _, request, _ in
      request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, for: request) : .text("content", [.eTag: "\"1\""], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for _ in 0..<2 {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(!response.isUnchanged)
      }
    }
  }

  @Test func `a stored response with the file's entity tag keeps the file, even if only one has a date`() async throws {
    let shop = CachedShop { number, request in
      let headers: HTTPHeaders = [.eTag: "\"1\"", .cacheControl: "max-age=0, stale-if-error=600"]
      switch number {
      case 1: return .text("content", headers, for: request)
      case 2:
        var dated = headers
        dated[.lastModified] = "Tue, 01 Sep 2026 10:00:00 GMT"
        return .status(.notModified, headers: dated, for: request)
      default: return .unavailable(request)
      }
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      _ = try await shop.task().download()
      #expect(try await shop.task().download(to: file, when: .changed).isUnchanged)
    }
  }

  @Test(arguments: [true, false]) func `a call that began earlier keeps the file of a later call`(
    isUnchanged: Bool
  ) async throws {
    let (isWaiting, mayAnswer) = (Gate(), Gate())
    let shop = CachedShop { number, request in
      let headers: HTTPHeaders = [.eTag: "\"\(number == 1 ? 1 : 2)\"", .cacheControl: "max-age=0, stale-if-error=600"]
      guard number == 2 else { return .text(number == 1 ? "1" : "2", headers, for: request) }
      isWaiting.open()
      await mayAnswer.wait()
      return isUnchanged ? .status(.notModified, for: request) : .unavailable(request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      if isUnchanged {
        _ = try await shop.task().download(to: file, when: .changed)
      } else {
        _ = try await shop.task().download()  // only the cache has version 1
      }
      let first = Task { try await shop.task().download(to: file, when: .changed) }
      await isWaiting.wait()
      _ = try await shop.task().caching(.reload).download(to: file, when: .changed)
      mayAnswer.open()
      let error = await taskError {
        let response = try await first.value
        #expect(response.isUnchanged)
      }
      #expect(error?.status == (isUnchanged ? nil : .serviceUnavailable))
      #expect(try String(contentsOf: file, encoding: .utf8) == "2")
    }
  }

  @Test func `a step that copies a 304 can send another request afterwards`() async throws {
    struct Auditing: PerCallStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        _ = try await next(HTTPRequest(.post, .known("https://shop.test/audit")))
        return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
      }
    }
    let shop = VirtualShop {
      $0.perCallSteps = [Auditing()]
    } answer: { _, request, _ in
      request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, for: request) : .text("content", [.eTag: "\"1\""], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      let response = try await shop.task().download(to: file, when: .changed)
      #expect(response.isUnchanged && shop.sentCount == 4)
    }
  }

  @Test(arguments: [true, false]) func `a step that copies a 304 can change the request`(isPerCall: Bool) async throws {
    struct Copying: PerCallStep, PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.acceptLanguage] = "de"
        let response = try await next(request)
        return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
      }
    }
    let shop = VirtualShop {
      if isPerCall { $0.perCallSteps = [Copying()] } else { $0.perAttemptSteps = [Copying()] }
    } answer: { _, request, _ in
      let headers: HTTPHeaders = [.eTag: "\"1\"", .vary: "Accept-Language"]
      return request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, headers: headers, for: request) : .text("de", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      let response = try await shop.task().download(to: file, when: .changed)
      #expect(try String(contentsOf: file, encoding: .utf8) == "de")
      // The copy of a per-attempt step does not say which language it has, so the file is downloaded again.
      #expect(shop.sentCount == 2 && response.isUnchanged == isPerCall)
    }
  }
}
