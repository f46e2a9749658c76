import Foundation
import Testing

@testable import Errand

/// How each policy treats fresh, stale and missing responses.
@Suite(.timeLimit(.minutes(1))) struct CachePolicyTests {
  private typealias World = CacheRulesWorld

  private let stored = World.stored("max-age=60, must-revalidate")

  @Test(arguments: [CachePolicy.cacheOnly, .cacheFirst, .cacheFirst.withoutStoring])
  func `cacheOnly and cacheFirst return a stored response of any age`(policy: CachePolicy) {
    for seconds in [0.0, 59, 61, 1e9] { #expect(World.decide(stored, after: seconds, policy: policy).isHit) }
    let strict = World.stored("no-cache")
    #expect(World.decide(strict, after: 1, policy: policy).isHit)
  }

  @Test func `sends a request if nothing is stored, except with cacheOnly`() {
    #expect(World.decide(nil, policy: .cacheFirst) == .ask(.uriMiss, validates: false))
    #expect(World.decide(nil, policy: .cacheFirst, hasOthers: true) == .ask(.varyMiss, validates: false))
    #expect(World.decide(nil, policy: .cacheOnly) == .refuse)
    #expect(World.decide(stored, method: .post, policy: .cacheOnly) == .refuse)
    #expect(World.decide(stored, ["If-Range": "\"1\""], policy: .cacheOnly) == .refuse)
  }

  @Test func `reload sends no validators, and validated sends the stored response's validators`() {
    #expect(World.decide(stored, after: 1, policy: .reload) == .ask(.request, validates: false))
    #expect(World.decide(stored, after: 1, policy: .validated) == .ask(.request, validates: true))
    #expect(World.decide(stored, after: 61, policy: .validated) == .ask(.stale, validates: true))
  }

  @Test func `the none policy bypasses the cache`() {
    #expect(World.decide(stored, after: 1, policy: .none) == .ask(.bypass, validates: false))
    #expect(!CachePolicy.none.stores && CachePolicy.standard.stores && !CachePolicy.standard.withoutStoring.stores)
  }

  @Test func `networkFirst sends a request and allows the stored response if the request fails`() {
    #expect(World.decide(stored, after: 1, policy: .networkFirst()) == .ask(.request, validates: true))
    #expect(CacheDecision.mayServe(stored, World.demand(), .networkFirst(), now: World.start + 1e9))
    #expect(!CacheDecision.mayServe(stored, World.demand(), .reload, now: World.start))
    #expect(!CacheDecision.mayServe(stored, World.demand(), .none, now: World.start))
  }

  @Test func `returns a range only from a complete, uncompressed body`() {
    let range: HTTPHeaders = [.range: "bytes=0-1"]
    #expect(World.decide(World.stored("max-age=60"), range, after: 1).isHit)
    let compressed = World.stored("max-age=60", [.contentEncoding: "gzip"])
    #expect(World.decide(compressed, range, after: 1) == .ask(.partial, validates: false))
    let missing = World.stored("max-age=60", status: .notFound)
    #expect(World.decide(missing, range, after: 1) == .ask(.partial, validates: false))
  }

  @Test func `describes the cache's decision in the format of RFC 9211`() {
    var status = CacheStatus()
    status.timeLeft = .milliseconds(59_900)
    #expect("\(status)" == "errand; hit; ttl=59")
    status.timeLeft = .milliseconds(-100)
    #expect("\(status)" == "errand; hit; ttl=-1")
    status = CacheStatus()
    status.forward = .uriMiss
    status.isStored = true
    status.isCollapsed = true
    #expect("\(status)" == "errand; fwd=uri-miss; stored; collapsed" && !status.isHit)
    status = CacheStatus(forward: .stale, forwardStatus: .notModified, timeLeft: .seconds(60), detail: "validated")
    #expect("\(status)" == "errand; fwd=stale; fwd-status=304; ttl=60; detail=validated")
  }
}
