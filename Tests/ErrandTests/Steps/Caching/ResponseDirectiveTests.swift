import Foundation
import Testing

@testable import Errand

/// Response directives (RFC 9111 §5.2.2, RFC 8246 and RFC 5861).
@Suite(.timeLimit(.minutes(1))) struct ResponseDirectiveTests {
  private typealias World = CacheRulesWorld

  // §5.2.2.4: "The no-cache response directive, in its unqualified form (without an argument), indicates that the
  // response MUST NOT be used to satisfy any other request without forwarding it for validation and receiving a
  // successful response".
  @Test func `no-cache requires validation of fresh and stale responses`() {
    let stored = World.stored("max-age=60, no-cache, stale-while-revalidate=60")
    #expect(World.decide(stored, after: 1) == .ask(.request, validates: true))
    #expect(World.decide(stored, [.cacheControl: "max-stale"], after: 61) == .ask(.stale, validates: true))
  }

  // §5.2.2.4: "The qualified form of the no-cache response directive (...) indicates that a cache MUST NOT use the
  // response to satisfy a subsequent request, subject to any other restrictions on caching, if the listed header fields
  // are excluded from the subsequent response or (...) successfully revalidated". The cache omits these fields
  // and uses the rest.
  @Test func `no-cache with field names omits these fields and requires no validation`() {
    let control = "max-age=60, no-cache=\"Set-Cookie, x-id\""
    #expect(World.decide(World.stored(control), after: 1).isHit)
    let kept = StoredHeader.stored(
      [.cacheControl: control, .setCookie: "a=1", "X-Id": "7", "X-Other": "8"], responseTime: World.start)
    #expect(!kept.contains(.setCookie) && !kept.contains("X-Id") && kept.contains("X-Other"))
  }

  // §5.2.2.2: "The must-revalidate response directive indicates that once the response has become stale, a cache MUST
  // NOT reuse that response to satisfy another request until it has been successfully validated by the origin".
  @Test func `must-revalidate forbids using a stale response, but not a fresh one`() {
    let stored = World.stored("max-age=60, must-revalidate, stale-while-revalidate=60, stale-if-error=60")
    #expect(World.decide(stored, after: 1).isHit)
    #expect(World.decide(stored, [.cacheControl: "max-stale"], after: 61) == .ask(.stale, validates: true))
    #expect(!CacheDecision.mayServe(stored, World.demand(), .standard, now: World.start + 61))
  }

  // §5.2.2.8: proxy-revalidate "has the same meaning as must-revalidate, except that proxy-revalidate does not apply to
  // private caches."
  @Test func `a private cache ignores proxy-revalidate`() {
    let stored = World.stored("max-age=60, proxy-revalidate, stale-while-revalidate=60")
    #expect(World.decide(stored, after: 61) != .ask(.stale, validates: true))
  }

  // RFC 8246 §2: "Clients SHOULD NOT issue a conditional request during the response's freshness lifetime (e.g., upon a
  // reload) unless explicitly overridden by the user (e.g., a force reload)."
  @Test func `does not validate a fresh immutable response unless the reload is forced`() {
    let stored = World.stored("max-age=60, immutable")
    #expect(World.decide(stored, [.cacheControl: "max-age=0"], after: 30).isHit)
    #expect(World.decide(stored, after: 30, policy: .validated).isHit)
    #expect(World.decide(stored, after: 30, policy: .reload) == .ask(.request, validates: false))
    #expect(World.decide(stored, [.cacheControl: "no-cache"], after: 30) == .ask(.request, validates: true))
    // RFC 8246 §2: "The immutable extension only applies during the freshness lifetime of the stored response."
    #expect(World.decide(stored, after: 61, policy: .validated) == .ask(.stale, validates: true))
    #expect(World.decide(stored, [.cacheControl: "max-age=0"], after: 61) == .ask(.stale, validates: true))
  }

  // RFC 5861 §3: "caches MAY serve the response (...) after it becomes stale, up to the indicated number of seconds.
  // (...) If delta-seconds passes without the cached entity being revalidated, it SHOULD NOT continue to be served
  // stale".
  @Test func `stale-while-revalidate serves a stale response and validates it in the background`() {
    let stored = World.stored("max-age=600, stale-while-revalidate=30")
    #expect(World.decide(stored, after: 599).isHit)
    #expect(
      World.decide(stored, after: 630) == .serve(CacheUse(timeLeft: .seconds(-30), validatesAfterwards: true)))
    #expect(World.decide(stored, after: 631) == .ask(.stale, validates: true))
    #expect(World.decide(stored, [.cacheControl: "no-cache"], after: 601) == .ask(.stale, validates: true))
    #expect(World.decide(stored, [.cacheControl: "max-age=600"], after: 601) == .ask(.stale, validates: true))
  }

  // RFC 5861 §4: "when an error is encountered, a cached stale response MAY be used to satisfy the request, regardless
  // of other freshness information", during the stated time after it became stale.
  @Test func `stale-if-error in a response or request allows a stale response for a limited time`() {
    func mayServe(_ control: String, _ request: HTTPHeaders = [:], after seconds: Double) -> Bool {
      CacheDecision.mayServe(
        World.stored(control), World.demand(request), .standard, now: World.start + seconds)
    }
    #expect(mayServe("max-age=600, stale-if-error=1200", after: 1800))
    #expect(!mayServe("max-age=600, stale-if-error=1200", after: 1801))
    #expect(mayServe("max-age=600", [.cacheControl: "stale-if-error=10"], after: 610))
    #expect(!mayServe("max-age=600", [.cacheControl: "stale-if-error=10"], after: 611))
    #expect(!mayServe("max-age=600", after: 601) && !mayServe("max-age=600, stale-if-error=x", after: 601))
    #expect(!mayServe("max-age=600, no-cache, stale-if-error=1200", after: 1))
    #expect(!mayServe("stale-if-error=1200", [.cacheControl: "no-cache"], after: 1))
  }

  // RFC 5861 §4: "an error is any situation that would result in a 500, 502, 503, or 504 HTTP response status code".
  @Test func `only 500, 502, 503 and 504 are server failures`() {
    #expect((100...599).filter { HTTPStatus($0).isServerFailure } == [500, 502, 503, 504])
  }
}
