import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Responses that a cache must not return: another user's response, another variant, or a response that bypasses an
/// address policy.
@Suite(.timeLimit(.minutes(1))) struct CacheSafetyTests {
  private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]

  /// Users whose credentials do not appear in a header.
  private static let users: [Credential?] = [
    Credential(user: "ann", password: "1"), Credential(user: "bob", password: "1"),
    Credential(user: "ann", password: "2"), nil,
  ]

  // RFC 7616: the request has no `Authorization` header until the call answers a challenge.
  @Test func `separates responses by Digest credentials`() async throws {
    let shop = CachedShop(Self.fresh)
    for round in 1...2 {
      for (index, user) in Self.users.enumerated() {
        #expect(try await shop.text { $0.options.digest = user } == "\(index + 1)", "round \(round)")
      }
    }
    #expect(shop.sentCount == 4)
  }

  @Test func `does not coalesce calls with different Digest credentials`() async throws {
    let gate = Gate()
    let shop = CachedShop(configure: { $0.coalescesRequests = true }) { _, request in
      await gate.wait()
      return .text(request.options.digest.map { $0.user + $0.password } ?? "none", Self.fresh, for: request)
    }
    let calls = Self.users.map { user in Task { try await shop.text { $0.options.digest = user } } }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 4 })
    gate.open()
    for (text, call) in zip(["ann1", "bob1", "ann2", "none"], calls) { #expect(try await call.value == text) }
    #expect(shop.sentCount == 4)
  }

  @Test func `every credential changes the hash of a request, and equal credentials have equal hashes`() {
    let credentials = CacheCredentials(.standard)
    let headers: HTTPHeaders = ["X-Id": "1"]
    func hashes() -> [String] {
      [
        credentials.hash(of: headers), credentials.hash(of: ["Cookie": "a=1"]), credentials.hash(of: ["Cookie": "a=2"]),
        credentials.hash(of: headers, named: ["X-Id"]), credentials.hash(of: headers, account: "ann"),
        credentials.hash(of: headers, account: "bob"),
        credentials.hash(of: headers, digest: Credential(user: "ann", password: "1")),
        credentials.hash(of: headers, digest: Credential(user: "ann", password: "2")),
      ]
    }
    let first = hashes()
    #expect(Set(first).count == first.count)
    #expect(hashes() == first)
    #expect(first[0].isEmpty && credentials.hash(of: headers).isEmpty)
  }

  @Test func `separates users by known and by declared credential headers, even without redaction`() async throws {
    let shop = CachedShop(configure: { $0.redaction = .none }) { number, request in
      .text("\(number)", Self.fresh, for: request)
    }
    for _ in 1...2 {
      for (text, name, value) in [
        ("1", "X-Api-Key", "a"), ("2", "X-Api-Key", "b"), ("3", "X-Member", "a"), ("4", "X-Member", "b"),
      ] {
        let got = try await shop.text { request in
          request.headers[HTTPHeaderName(name)] = value
          if name == "X-Member" { request.options.credentialHeaders = ["X-Member"] }
        }
        #expect(got == text)
      }
    }
    #expect(shop.sentCount == 4)
  }

  // RFC 9110 §11.4: the scheme identifies a credential, regardless of the field's name.
  @Test func `separates users by a credential that is recognizable only by its scheme`() async throws {
    let shop = CachedShop(Self.fresh)
    for _ in 1...2 {
      for (text, value) in [("1", "Bearer alice"), ("2", "Bearer bob"), ("3", "Basic bWU6cHc="), ("4", "plain")] {
        #expect(try await shop.text { $0.headers["X-Upstream"] = value } == text)
      }
    }
    #expect(shop.sentCount == 4)
  }

  @Test func `a call with its own address policy neither uses nor stores cached responses`() async throws {
    let shop = CachedShop { number, request in
      // Fails like a transport that rejects the address.
      guard request.options.addressPolicy.allowsAll else {
        throw TaskError(.badRequest, "not allowed", phase: .connecting)
      }
      return .text("\(number)", Self.fresh, for: request)
    }
    #expect(try await shop.get().text == "1")
    #expect(try await shop.get(shop.task().addresses(.any)).text == "2")
    #expect(try await shop.get().text == "1", "the second response was not stored")
    #expect(await taskError { _ = try await shop.get(shop.task().addresses(.publicOnly)) } != nil)
    #expect(await taskError { _ = try await shop.text { $0.options.addressPolicy = .publicOnly } } != nil)
    let silent = shop.task("widgets/7", .cacheOnly).addresses(.publicOnly)
    #expect(await taskError { _ = try await shop.get(silent) }?.code == .notCached)
    #expect(shop.sentCount == 4)
  }

  @Test func `does not return a stored response if a preflight changes the address policy`() async throws {
    let rules = [AddressPolicy.allowing { _, _ in true }, .allowing { _, _ in true }]
    let isOther = Shared(false)
    let shop = CachedShop(configure: {
      $0.addressPolicy = rules[0]
      $0.preflight = { _, request in if isOther.withLock({ $0 }) { request.options.addressPolicy = rules[1] } }
    }) { number, request in .text("\(number)", Self.fresh, for: request) }
    #expect(try await shop.get().text == "1")
    #expect(try await shop.get().text == "1", "the response was received under the server's own policy")
    isOther.withLock { $0 = true }
    #expect(try await shop.get().text == "2")
  }

  @Test func `an unsafe call with its own address policy still removes stored responses`() async throws {
    let shop = CachedShop(Self.fresh)
    #expect(try await shop.get().text == "1")
    _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).addresses(.any).run()
    #expect(try await shop.get().text == "3")
  }

  @Test func `does not store a response if a step changes a header named by Vary`() async throws {
    struct Alternating: PerAttemptStep {
      let count = Shared(0)
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Tenant"] = count.withLock { count in
          count += 1
          return count % 2 == 0 ? "even" : "odd"
        }
        return try await next(request)
      }
    }
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Alternating()] }) { _, request in
      .text(request.headers["X-Tenant"] ?? "", [.cacheControl: "max-age=60", .vary: "X-Tenant"], for: request)
    }
    #expect(try await shop.get() == ("odd", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("even", "errand; fwd=uri-miss"))
  }

  @Test func `a hedged and authenticated response is not stored for unauthenticated calls`() async throws {
    // Only the first call is authenticated.
    struct Signing: PerAttemptStep {
      let count = Shared(0)
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 1 { request.headers[.authorization] = "Bearer alice" }
        return try await next(request)
      }
    }
    let gate = Gate()
    let shop = CachedShop(configure: { configuration in
      configuration.perAttemptSteps = [Signing()]
      configuration.hedging = .after(.seconds(1))
    }) { number, request in
      if number == 1 { await gate.wait() }
      if number == 2 { try await CallClock(ManualClock()).sleep(for: .seconds(1)) }  // until it is cancelled
      return .text(request.headers[.authorization] ?? "nobody", Self.fresh, for: request)
    }
    let call = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .seconds(1))
    #expect(await eventually { shop.sentCount == 2 })
    gate.open()
    #expect(try await call.value.text == "Bearer alice")
    #expect(try await shop.get().text == "nobody", "Alice's response is not stored as an unauthenticated response")
  }

  // RFC 9110 §13.1.1: a 412 answers the condition.
  @Test func `a 412 does not replace the stored response`() async throws {
    let shop = CachedShop { number, request in
      let isConditional = request.headers.contains(.ifMatch)
      return .text("\(number)", Self.fresh, status: isConditional ? 412 : .ok, for: request)
    }
    #expect(try await shop.get().text == "1")
    let asked = try await shop.task().header(.ifMatch, "\"x\"").accepting(.all).response()
    #expect(asked.status == 412)
    #expect(try await shop.get() == ("1", "errand; hit; ttl=60"))
  }

  // RFC 5861 §4.
  @Test func `a server error does not replace a response kept for stale-if-error`() async throws {
    let shop = CachedShop { number, request in
      guard number == 1 else { return .text("down", Self.fresh, status: 503, for: request) }
      return .text("1", [.cacheControl: "max-age=60, stale-if-error=600"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(61))
    for _ in 1...3 { #expect(try await shop.get().text == "1") }
    #expect(shop.sentCount == 4)
  }

  // RFC 9111 §5.2.2.4: fields named by no-cache must not be reused without another validation.
  @Test(arguments: [HTTPMethod.get, .head])
  func `does not store header fields that no-cache names in a 304 or a HEAD response`(
    method: HTTPMethod
  ) async throws {
    let shop = CachedShop { number, request in
      guard number > 1 else {
        return .text("one", [.eTag: "\"1\"", .cacheControl: "max-age=60", "X-Old": "1"], for: request)
      }
      let headers: HTTPHeaders = [
        .eTag: "\"1\"", .cacheControl: "max-age=60, no-cache=\"X-Id, X-Old\"", "X-Id": "alice",
      ]
      return .status(method == .get ? .notModified : .ok, headers: headers, for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(61))
    let validated = try await CachedTask(path: "widgets/7", httpMethod: method).on(shop.server).run()
    #expect(validated.headers["X-Id"] == "alice")
    let hit = try await shop.task().response()
    #expect(hit.headers[.cacheStatus] == "errand; hit; ttl=60" && hit.text == "one")
    #expect(!hit.headers.contains("X-Id") && !hit.headers.contains("X-Old") && shop.sentCount == 2)
  }
}
