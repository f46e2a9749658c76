import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The parts of a request that identify its stored responses.
@Suite(.timeLimit(.minutes(1))) struct CacheKeyTests {
  private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]

  // The target URI contains the host from the Host field (RFC 9110 §7.1), and it is the cache key (RFC 9111 §2).
  @Test func `requests with different Host headers have separate stored responses`() async throws {
    let shop = CachedShop(Self.fresh)
    for _ in 1...2 {
      for (text, host) in [
        ("1", nil), ("2", "a.test"), ("3", "b.test"), ("1", "shop.test"), ("1", "Shop.test:443"),
        ("4", "shop.test:8443"),
        ("2", "A.TEST"),
      ] as [(String, String?)] {
        #expect(try await shop.text { $0.headers[.host] = host } == text, "\(host ?? "none")")
      }
    }
    _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).run()
    #expect(
      try await shop.text { $0.headers[.host] = "a.test" } == "6", "a change removes the responses for every Host")
  }

  @Test func `does not store a response if a step sets the Host header`() async throws {
    struct Hosting: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.host] = "a.test"
        return try await next(request)
      }
    }
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Hosting()] }) { number, request in
      .text("\(number)", Self.fresh, for: request)
    }
    #expect(try await shop.get() == ("1", "errand; fwd=uri-miss"))
  }

  @Test func `separates responses by the user in the URL and stores no plain hash of the password`() async throws {
    try await withFolder { folder in
      let shop = CachedShop(try DiskCache(at: folder)) { number, request in
        .text("\(number)", Self.fresh, for: request)
      }
      for _ in 1...2 {
        for (text, user) in [("1", "ann:hunter2@"), ("2", "bob:hunter2@"), ("3", "")] {
          #expect(try await shop.text { $0.url = .known("https://\(user)shop.test/widgets/7") } == text)
        }
      }
      var stored = Data()
      for case let name as String in try #require(FileManager.default.enumerator(atPath: folder.path)) {
        stored += (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()
      }
      for text in ["https://ann:hunter2@shop.test/widgets/7", "ann:hunter2", "user ann:hunter2\n", "hunter2"] {
        #expect(stored.firstRange(of: Data(SHA256.hexadecimal(of: text).utf8)) == nil, "\(text)")
      }
      #expect(stored.firstRange(of: Data(SHA256.hexadecimal(of: "https://shop.test/widgets/7").utf8)) != nil)
      _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).run()
      #expect(try await shop.text { $0.url = .known("https://ann:hunter2@shop.test/widgets/7") } == "5")
    }
  }

  @Test func `does not coalesce calls with different user names in their URLs`() async throws {
    let gate = Gate()
    let shop = CachedShop(configure: { $0.coalescesRequests = true }) { _, request in
      await gate.wait()
      return .text(request.url.user ?? "none", Self.fresh, for: request)
    }
    let calls = ["ann@", "bob@", ""].map { user in
      Task { try await shop.text { $0.url = .known("https://\(user)shop.test/widgets/7") } }
    }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 3 })
    gate.open()
    for (text, call) in zip(["ann", "bob", "none"], calls) { #expect(try await call.value == text) }
  }

  // The two strings are equal in Swift, but the bytes sent are different.
  @Test func `compares header values and passwords by their bytes`() async throws {
    let (one, two) = ("caf\u{E9}", "cafe\u{301}")
    let credentials = CacheCredentials(.standard)
    #expect(credentials.hash(of: ["Cookie": one]) != credentials.hash(of: ["Cookie": two]))
    #expect(HTTPHeaders.Field("X-City", one) != HTTPHeaders.Field("x-city", two))
    #expect(HTTPHeaders.Field("X-City", one) == HTTPHeaders.Field("x-city", one))
    #expect(Credential(user: "ann", password: one) != Credential(user: "ann", password: two))
    let shop = CachedShop { number, request in
      .text("\(number)", [.cacheControl: "max-age=60", .vary: "X-City"], for: request)
    }
    for _ in 1...2 {
      for (text, city) in [("1", one), ("2", two)] {
        #expect(try await shop.text { $0.headers["X-City"] = city } == text)
      }
    }
  }
}
