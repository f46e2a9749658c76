import Foundation
import Testing

@testable import Errand

/// The rules of RFC 9111 §4.2.
@Suite(.timeLimit(.minutes(1))) struct FreshnessTests {
  private typealias World = CacheRulesWorld

  private func lifetime(
    _ control: String? = nil, _ headers: HTTPHeaders = [:], status: HTTPStatus = .ok
  ) -> Duration {
    World.stored(control, headers, status: status).terms.lifetime
  }

  // §4.2.1: "If the max-age response directive is present, use its value."
  @Test func `max-age overrides Expires`() {
    #expect(lifetime("max-age=60", [.expires: World.date(1000)]) == .seconds(60))
    #expect(lifetime("max-age=0", [.expires: World.date(1000)]) == .zero)
    #expect(lifetime("max-age=\"60\"") == .seconds(60))
  }

  // §4.2.1: "If the cache is shared and the s-maxage response directive is present, use its value". This cache is
  // private.
  @Test func `ignores s-maxage, which applies only to shared caches`() {
    #expect(lifetime("s-maxage=1000, max-age=5") == .seconds(5) && lifetime("s-maxage=1000") == .zero)
  }

  // §4.2.1: "If the Expires response header field is present, use its value minus the value of the Date response header
  // field (using the time the message was received if it is not present, as per Section 6.6.1 of [HTTP])".
  @Test func `without max-age, the lifetime is Expires minus Date`() {
    #expect(lifetime(nil, [.date: World.date(-10), .expires: World.date(50)]) == .seconds(60))
    #expect(lifetime(nil, [.date: "none", .expires: World.date(50)]) == .seconds(50))
    #expect(lifetime(nil, [.expires: World.date(-50)]) == .zero)
    #expect(lifetime(nil, [.expires: World.date(60), "expires": World.date(600)]) == .seconds(60))
  }

  // §4.2: "a cache recipient SHOULD match the field value case-insensitively".
  @Test func `parses a date case-insensitively`() {
    #expect(lifetime(nil, [.date: World.date(0), .expires: World.date(60).lowercased()]) == .seconds(60))
    #expect(lifetime(nil, [.date: World.date(0).uppercased(), .expires: World.date(60)]) == .seconds(60))
  }

  // §5.3: "A cache recipient MUST interpret invalid date formats, especially the value "0", as representing a time in
  // the past (i.e., "already expired")."
  @Test(arguments: ["0", "-1", "", "tomorrow", "Thu, 01 Jan 2099"]) func `treats an invalid Expires as expired`(
    value: String
  ) {
    #expect(lifetime(nil, [.expires: value, .lastModified: World.date(-1_000_000)]) == .zero)
  }

  // §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information (...) to be stale."
  @Test func `treats a response with a malformed max-age as stale, even with a valid Expires`() {
    #expect(lifetime("max-age=soon", [.expires: World.date(1000)]) == .zero)
    #expect(lifetime("max-age=-1, max-age=60") == .zero)
  }

  // §4.2.2: "If the response has a Last-Modified header field (...), caches are encouraged to use a heuristic
  // expiration value (...). A typical setting of this fraction might be 10%."
  @Test func `the heuristic lifetime is a tenth of the time since Last-Modified, up to a week`() {
    #expect(lifetime(nil, [.lastModified: World.date(-1000)]) == .seconds(100))
    #expect(lifetime(nil, [.lastModified: World.date(1000)]) == .zero)
    #expect(lifetime(nil, [.lastModified: World.date(-1e9)]) == .seconds(7 * 86_400))
    #expect(lifetime() == .zero)
  }

  // §4.2.2: "a cache MUST NOT use heuristics to determine freshness when an explicit expiration time is present in the
  // stored response. (...) heuristics can only be used on responses without explicit freshness whose status codes are
  // defined as heuristically cacheable (...) and on responses without explicit freshness that have been marked as
  // explicitly cacheable (e.g., with a public response directive)."
  @Test func `uses the heuristic only for cacheable responses without an explicit lifetime`() {
    let modified: HTTPHeaders = [.lastModified: World.date(-1000)]
    #expect(lifetime("max-age=0", modified) == .zero)
    for code in [302, 303, 307, 400, 500, 599] {
      #expect(lifetime(nil, modified, status: HTTPStatus(code)) == .zero)
      #expect(lifetime("public", modified, status: HTTPStatus(code)) == .seconds(100))
    }
    for code in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
      #expect(lifetime(nil, modified, status: HTTPStatus(code)) == .seconds(100))
    }
  }

  // §4.2.3: apparent_age = max(0, response_time - date_value); response_delay = response_time - request_time;
  // corrected_age_value = age_value + response_delay; corrected_initial_age = max(apparent_age, corrected_age_value).
  @Test func `the initial age is the larger of the apparent and the corrected age`() {
    func age(_ headers: HTTPHeaders, delay: Double = 0) -> Duration {
      World.stored(nil, headers, delay: delay).age(at: World.start)
    }
    #expect(age([:]) == .zero && age([.age: "7"]) == .seconds(7) && age([.age: "7"], delay: 3) == .seconds(10))
    #expect(age([.date: World.date(-20), .age: "7"], delay: 3) == .seconds(20))
    #expect(age([.date: World.date(20)]) == .zero, "the server's clock is ahead")
    #expect(age([.date: "never", .age: "7"]) == .seconds(7) && age([.age: "seven"]) == .zero)
    #expect(age([.age: "99999999999"]) == .seconds(2_147_483_648))
  }

  // §4.2.3: resident_time = now - response_time; current_age = corrected_initial_age + resident_time.
  @Test func `the age grows over time and never drops below the initial age`() {
    let stored = World.stored(nil, [.age: "7"])
    #expect(stored.age(at: World.start + 5.5) == .milliseconds(12_500))
    #expect(stored.age(at: World.start - 1000) == .seconds(7))
  }

  @Test func `treats a response from the future as stale`() {
    let stored = World.stored("max-age=60, stale-if-error=60")
    #expect(World.decide(stored, after: -200).isHit, "small clock differences are accepted")
    #expect(World.decide(stored, after: -86_400) == .ask(.stale, validates: true))
    let demand = World.demand()
    #expect(!CacheDecision.mayServe(stored, demand, .standard, now: World.start - 86_400))
    #expect(World.decide(stored, after: -86_400, policy: .cacheFirst).isHit)
  }

  // §4.2: response_is_fresh = (freshness_lifetime > current_age).
  @Test func `a response is fresh while its lifetime is longer than its age`() {
    let stored = World.stored("max-age=60", [.age: "10"])
    #expect(World.decide(stored, after: 49.999).isHit)
    #expect(World.decide(stored, after: 50) == .ask(.stale, validates: true))
  }

  // §4.2.4: "A cache MUST NOT generate a stale response unless it is disconnected or doing so is explicitly permitted
  // by the client or origin server".
  @Test func `does not return a stale response by default`() {
    #expect(World.decide(World.stored("max-age=60"), after: 61) == .ask(.stale, validates: true))
    #expect(World.decide(World.stored(), after: 0) == .ask(.stale, validates: true))
  }

  @Test func `very large lifetimes and ages do not overflow`() {
    let largest = "99999999999999999999"
    let stored = World.stored("max-age=\(largest), stale-while-revalidate=\(largest)", [.age: largest])
    #expect(World.decide(stored, ["Cache-Control": "max-stale=\(largest)"], after: 1e9).isHit)
    #expect(stored.terms.timeLeft(at: World.start) == .zero)
  }
}
