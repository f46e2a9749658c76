import Foundation
import Testing

@testable import Errand

/// Validating and updating a stored response (RFC 9111 §4.3 and §3.2).
@Suite(.timeLimit(.minutes(1))) struct ValidationTests {
  private typealias World = CacheRulesWorld

  // §4.3.1: "One such precondition header field is If-Modified-Since (...) Another is If-None-Match"; "A cache SHOULD
  // send both validators" if it has both.
  @Test func `a validation sends the stored entity tag and date`() {
    let stored = World.stored(nil, [.eTag: "W/\"1\"", .lastModified: World.date(-100)])
    let headers = Validation.conditions(["Accept": "a"], for: stored)
    #expect(headers == ["Accept": "a", "If-None-Match": "W/\"1\"", "If-Modified-Since": World.date(-100)])
    #expect(stored.hasValidator && !World.stored().hasValidator)
    let broken = World.stored(nil, [.eTag: "1", .lastModified: "monday"])
    #expect(Validation.conditions([:], for: broken) == ["If-None-Match": "1", "If-Modified-Since": "monday"])
    let useless = World.stored(nil, [.eTag: "*", .lastModified: ""])
    #expect(Validation.conditions([:], for: useless).isEmpty && !useless.hasValidator)
  }

  @Test func `does not use an entity tag that would make the request too large`() {
    let tag = "\"\(String(repeating: "e", count: 61_500))\""
    #expect(!World.stored(nil, [.eTag: tag]).hasValidator)
    let both = World.stored(nil, [.eTag: tag, .lastModified: World.date(-100)])
    #expect(Validation.conditions([:], for: both) == ["If-Modified-Since": World.date(-100)])
    #expect(Validation.isAbout(both, [.eTag: tag, .lastModified: World.date(-100)]))
    #expect(!Validation.isAbout(both, [.eTag: "\"1\"", .lastModified: World.date(-100)]))
  }

  @Test func `does not use an entity tag that is not text`() {
    #expect(!World.stored(nil, [.eTag: "\"caf\u{FFFD}\""]).hasValidator)
    #expect(World.stored(nil, [.eTag: "\"café\""]).hasValidator)
    let accents = ["\"caf\u{E9}\"", "\"cafe\u{301}\""].compactMap { EntityTag($0) }
    #expect(accents.count == 2 && !accents[0].matchesStrongly(accents[1]) && !accents[0].matchesWeakly(accents[1]))
  }

  // §4.3.4: "If the new response contains one or more strong validators, then each of those strong validators
  // identifies a selected representation for update. (...) If none (...) match, then the cache MUST NOT use the new
  // response to update".
  @Test func `a 304 applies only to a response that matches its validators`() {
    let strong = World.stored(nil, [.eTag: "\"1\"", .lastModified: World.date(-100)])
    #expect(Validation.isAbout(strong, [.eTag: "\"1\""]) && Validation.isAbout(strong, [.eTag: "W/\"1\""]))
    let unquoted = World.stored(nil, [.eTag: "1"])
    #expect(Validation.isAbout(unquoted, [.eTag: "1"]) && Validation.isAbout(unquoted, [:]))
    #expect(!Validation.isAbout(unquoted, [.eTag: "2"]) && !Validation.isAbout(unquoted, [.eTag: "\"1\""]))
    #expect(!Validation.isAbout(strong, [.eTag: "\"2\""]) && !Validation.isAbout(strong, [.eTag: "broken"]))
    #expect(!Validation.isAbout(strong, [.eTag: "\"2\"", .lastModified: World.date(-100)]))
    // "If the new response contains no strong validators but does contain one or more weak validators (...)".
    #expect(Validation.isAbout(strong, [.lastModified: World.date(-100)]))
    #expect(!Validation.isAbout(strong, [.lastModified: World.date(-50)]))
    // "If the new response does not include any form of validator (...)": it applies to the only candidate.
    #expect(Validation.isAbout(strong, [:]) && Validation.isAbout(World.stored(), [:]))
    #expect(!Validation.isAbout(World.stored(), [.eTag: "\"1\""]))
  }

  // §3.2: "the cache MUST add each header field in the provided response to the stored response, replacing field values
  // that are already present", except the fields in §3.1, Content-Length, and fields that describe the processed body.
  @Test func `merges a 304's headers into the stored response's headers`() {
    let stored: HTTPHeaders = [
      "A": "1", "B": "1", "B": "2", "Content-Length": "5", "Content-Encoding": "gzip", "Content-Type": "text/plain",
      "Age": "30", "Date": World.date(0), "Cache-Control": "max-age=1",
    ]
    let new: HTTPHeaders = [
      "b": "3", "C": "1", "Content-Length": "0", "Content-Encoding": "br", "Connection": "X-Hop", "X-Hop": "1",
      "Cache-Control": "max-age=60", "Date": World.date(100), "Transfer-Encoding": "chunked",
    ]
    let merged = StoredHeader.updated(stored, by: new, responseTime: World.start + 100)
    #expect(merged.values(for: "B") == ["3"] && merged["A"] == "1" && merged["C"] == "1")
    #expect(merged[.contentLength] == "5" && merged[.contentEncoding] == "gzip" && merged[.contentType] == "text/plain")
    #expect(!merged.contains(.connection) && !merged.contains("X-Hop") && !merged.contains(.transferEncoding))
    #expect(!merged.contains(.age), "the Age of the old response no longer applies")
    #expect(merged[.cacheControl] == "max-age=60" && merged[.date] == World.date(100))
  }

  @Test func `a validated response has the 304's lifetime and age`() {
    let stored = World.stored("max-age=60", [.eTag: "\"1\"", .age: "30"])
    let updated = Validation.updated(
      stored, by: [.eTag: "\"1\"", .cacheControl: "max-age=10"], for: [:], requestTime: World.start + 99,
      responseTime: World.start + 100)
    #expect(World.decide(updated, after: 108).isHit && !World.decide(updated, after: 110).isHit)
    let aged = Validation.updated(
      stored, by: [.age: "20"], for: [:], requestTime: World.start + 100, responseTime: World.start + 100)
    #expect(aged.age(at: World.start + 100) == .seconds(20))
  }

  // §4.3.5: "if the stored response and HEAD response have matching values for any received validator fields (ETag and
  // Last-Modified) and, if the HEAD response has a Content-Length header field, the value of Content-Length matches
  // that of the stored response, the cache SHOULD update the stored response (...); otherwise, the cache SHOULD
  // consider the stored response to be stale."
  @Test func `a HEAD response applies to a stored GET response only if validators and lengths match`() {
    let stored = World.stored(nil, [.eTag: "\"1\"", .contentLength: "5"])
    #expect(Validation.isAboutSame(stored, [.eTag: "\"1\"", .contentLength: "5"]))
    #expect(Validation.isAboutSame(stored, ["X": "1"]))
    #expect(!Validation.isAboutSame(stored, [.eTag: "\"2\""]) && !Validation.isAboutSame(stored, [.contentLength: "6"]))
    #expect(!Validation.isAboutSame(stored, [.lastModified: World.date(0)]))
  }

  // §4.4: "A cache MUST invalidate the target URI (...) when it receives a non-error status code in response to an
  // unsafe request method (including methods whose safety is unknown)."
  @Test func `an unsafe request invalidates its URL and any locations at the same origin`() throws {
    func urls(_ method: HTTPMethod, _ status: HTTPStatus, _ headers: HTTPHeaders = [:]) -> [String] {
      Invalidation.urls(HTTPRequest(method, World.url), World.response(status, headers))
    }
    for method in [HTTPMethod.post, .put, .patch, .delete, "PURGE"] {
      #expect(urls(method, .ok) == ["https://shop.test/widgets/7"])
      #expect(urls(method, 303).count == 1 && urls(method, 404).isEmpty)
      #expect(urls(method, 504).count == 1, "the server may have processed the request")
    }
    for method in [HTTPMethod.get, .head, .options, .trace, .query] { #expect(urls(method, .ok).isEmpty) }
    // §4.4: "A cache MAY invalidate other URIs (...). In particular, the URI(s) in the Location and Content-Location
    // response header fields (if present) are candidates for invalidation (...). However, a cache MUST NOT trigger an
    // invalidation under these conditions if the origin (...) differs".
    #expect(
      urls(.post, 201, [.location: "8", .contentLocation: "/a#x"]).dropFirst() == [
        "https://shop.test/widgets/8", "https://shop.test/a",
      ])
    for foreign in ["https://other.test/a", "http://shop.test/a", "//other.test/a", "https://shop.test:444/a", ":"] {
      #expect(urls(.post, 201, [.location: foreign]).count == 1, "\(foreign)")
    }
  }
}
