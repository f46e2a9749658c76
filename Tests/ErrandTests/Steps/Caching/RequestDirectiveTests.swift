import Foundation
import Testing

@testable import Errand

/// Request directives (RFC 9111 §5.2.1).
@Suite(.timeLimit(.minutes(1))) struct RequestDirectiveTests {
  private typealias World = CacheRulesWorld

  private func decide(_ control: String, _ stored: StoredResponse, after seconds: Double) -> CacheDecision {
    World.decide(stored, [.cacheControl: control], after: seconds)
  }

  private let stored = World.stored("max-age=60")

  // §5.2.1.1: "The max-age request directive indicates that the client prefers a response whose age is less than or
  // equal to the specified number of seconds."
  @Test func `max-age accepts a response up to the specified age`() {
    #expect(decide("max-age=10", stored, after: 10).isHit)
    #expect(decide("max-age=10", stored, after: 11) == .ask(.request, validates: true))
    #expect(decide("max-age=0", stored, after: 1) == .ask(.request, validates: true))
    #expect(decide("max-age=soon", stored, after: 1) == .ask(.request, validates: true))
    #expect(decide("max-age=100", stored, after: 61) == .ask(.stale, validates: true))
  }

  // §5.2.1.2: "The max-stale request directive indicates that the client will accept a response that has exceeded its
  // freshness lifetime. If a value is present, then the client is willing to accept a response that has exceeded its
  // freshness lifetime by no more than the specified number of seconds. If no value is assigned to max-stale, then the
  // client will accept a stale response of any age."
  @Test func `max-stale accepts a response that has been stale for up to the specified time`() {
    #expect(decide("max-stale=10", stored, after: 70).isHit)
    #expect(decide("max-stale=10", stored, after: 71) == .ask(.stale, validates: true))
    #expect(decide("max-stale", stored, after: 1e8).isHit)
    #expect(decide("max-stale=many", stored, after: 61) == .ask(.stale, validates: true))
    #expect(decide("max-age=65, max-stale", stored, after: 64).isHit)
    #expect(decide("max-age=65, max-stale", stored, after: 66) == .ask(.stale, validates: true))
  }

  // §5.2.1.3: "The min-fresh request directive indicates that the client prefers a response whose freshness lifetime is
  // no less than its current age plus the specified time in seconds."
  @Test func `min-fresh requires a response to stay fresh for the specified time`() {
    #expect(decide("min-fresh=20", stored, after: 40).isHit)
    #expect(decide("min-fresh=20", stored, after: 41) == .ask(.request, validates: true))
    let lasting = World.stored("max-age=60, stale-while-revalidate=60")
    #expect(decide("min-fresh=20", lasting, after: 50) == .ask(.request, validates: true))
  }

  // §5.2.1.4: "The no-cache request directive indicates that the client prefers a stored response not be used to
  // satisfy the request without successful validation on the origin server."
  @Test func `no-cache requires validation`() {
    #expect(decide("no-cache", stored, after: 1) == .ask(.request, validates: true))
    #expect(decide("no-cache, max-stale", stored, after: 61) == .ask(.stale, validates: true))
  }

  // §5.4: "When the Cache-Control header field is not present in a request, caches MUST consider the no-cache request
  // pragma directive as having the same effect as if "Cache-Control: no-cache" were present".
  @Test func `Pragma no-cache applies if there is no Cache-Control`() {
    #expect(World.decide(stored, ["Pragma": "x, No-Cache"], after: 1) == .ask(.request, validates: true))
    #expect(World.decide(stored, ["Pragma": "no-cache", "Cache-Control": "max-age=60"], after: 1).isHit)
    #expect(World.decide(stored, ["Pragma": "x"], after: 1).isHit)
  }

  // §5.2.1.5: "The no-store request directive indicates that a cache MUST NOT store any part of either this request or
  // any response to it. (...) Note that if a request containing this directive is satisfied from a cache, the no-store
  // request directive does not apply to the already stored response."
  @Test func `no-store prevents storing a response but not using a stored one`() {
    #expect(!World.allows(.ok, [.cacheControl: "max-age=60"], request: [.cacheControl: "no-store"]))
    #expect(decide("no-store", stored, after: 1).isHit)
  }

  // §5.2.1.7: "The only-if-cached request directive indicates that the client only wishes to obtain a stored response.
  // Caches that honor this request directive SHOULD, upon receiving it, respond with either a stored response
  // consistent with the other constraints of the request or a 504 (Gateway Timeout) status code."
  @Test func `only-if-cached sends no request`() {
    #expect(decide("only-if-cached", stored, after: 1).isHit)
    #expect(decide("only-if-cached", stored, after: 61) == .refuse)
    #expect(decide("only-if-cached, max-stale", stored, after: 61).isHit)
    #expect(decide("only-if-cached, no-cache", stored, after: 1) == .refuse)
    #expect(World.decide(nil, [.cacheControl: "only-if-cached"]) == .refuse)
    let lasting = World.stored("max-age=60, stale-while-revalidate=60")
    #expect(decide("only-if-cached", lasting, after: 61).isHit, "there is no background validation")
  }

  // §4: "the request method associated with the stored response allows it to be used for the presented request".
  @Test func `answers only GET and HEAD requests without a body from the cache`() {
    #expect(World.decide(stored, method: .head, after: 1).isHit)
    for method in [HTTPMethod.post, .put, .patch, .delete, .options, .query, "PURGE"] {
      #expect(World.decide(stored, method: method, after: 1) == .ask(.method, validates: false))
    }
    let demand = World.demand(body: .text("x"))
    #expect(
      CacheDecision.on(demand, .standard, stored: stored, hasOthers: false, now: World.start)
        == .ask(.method, validates: false))
  }

  @Test func `forwards conditions that only the server can evaluate`() {
    for name in ["If-Match", "If-Unmodified-Since", "If-Range"] {
      let decision = World.decide(stored, [HTTPHeaderName(name): "\"1\"", "Range": "bytes=0-1"], after: 1)
      #expect(decision == .ask(.bypass, validates: false))
    }
    #expect(World.decide(stored, ["Range": "bytes=0-1,3-4"]) == .ask(.bypass, validates: false))
  }

  // §4.3.2: "A request containing an If-None-Match header field indicates that the client wants to validate one or more
  // of its own stored responses in comparison to the stored response chosen by the cache."
  @Test func `evaluates the caller's condition on the stored response`() {
    let tagged = World.stored("max-age=60", [.eTag: "W/\"1\"", .lastModified: World.date(-100)])
    func isSatisfied(_ headers: HTTPHeaders, _ stored: StoredResponse) -> Bool {
      World.demand(headers).isSatisfied(by: stored)
    }
    #expect(isSatisfied([.ifNoneMatch: "\"0\", \"1\""], tagged) && isSatisfied([.ifNoneMatch: "*"], tagged))
    #expect(!isSatisfied([.ifNoneMatch: "\"2\""], tagged))
    // RFC 9110 §13.1.3: "A recipient MUST ignore If-Modified-Since if the request contains an If-None-Match header
    // field".
    #expect(!isSatisfied([.ifNoneMatch: "\"2\"", .ifModifiedSince: World.date(0)], tagged))
    #expect(isSatisfied([.ifModifiedSince: World.date(-100)], tagged))
    #expect(!isSatisfied([.ifModifiedSince: World.date(-101)], tagged))
    // §4.3.2: "or, if no Last-Modified header field is present, the value of Date".
    #expect(isSatisfied([.ifModifiedSince: World.date(0)], stored))
    #expect(!isSatisfied([.ifModifiedSince: World.date(-1)], stored) && !isSatisfied([.ifModifiedSince: "x"], stored))
  }
}
