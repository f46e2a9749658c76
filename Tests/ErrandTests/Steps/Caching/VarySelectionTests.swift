import Foundation
import Testing

@testable import Errand

/// The requests that a stored response matches (RFC 9111 §4.1).
@Suite(.timeLimit(.minutes(1))) struct VarySelectionTests {
  private typealias World = CacheRulesWorld

  private func stored(_ vary: String, for request: HTTPHeaders, _ headers: HTTPHeaders = [:], decompresses: Bool = true)
    -> StoredResponse
  {
    var headers = headers
    headers[.vary] = vary
    return Storing.stored(
      World.response(.ok, headers), for: request, requestTime: World.start, responseTime: World.start,
      decompresses: decompresses)
  }

  // §4.1: "the cache MUST NOT use that stored response without revalidation unless all the presented request header
  // fields nominated by that Vary field value match those fields in the original request".
  @Test func `matches a request only if every field named by Vary is equal`() {
    let stored = stored("Accept, accept-language", for: ["Accept": "a, b", "X-Other": "1"])
    #expect(stored.fits(["accept": "a,b", "X-Other": "2"], decompresses: true))
    #expect(!stored.fits(["Accept": "a"], decompresses: true) && !stored.fits([:], decompresses: true))
    // §4.1: "If (...) a header field is absent from a request, it can only match another request if it is also absent
    // there."
    #expect(!stored.fits(["Accept": "a, b", "Accept-Language": ""], decompresses: true))
  }

  @Test func `stores only the request fields named by Vary`() {
    let stored = stored("Accept", for: ["Accept": "a", "X-Secret": "s"])
    #expect(stored.selecting == ["Accept": "a"])
  }

  @Test func `supersedes only a response with the same Vary fields and values`() {
    let first = stored("Accept", for: ["Accept": "a"])
    #expect(stored("accept", for: ["accept": "a"]).supersedes(first))
    #expect(!stored("Accept", for: ["Accept": "b"]).supersedes(first))
    #expect(!stored("Accept, X", for: ["Accept": "a"]).supersedes(first))
    #expect(!stored("X", for: ["Accept": "a"]).supersedes(first) && !first.supersedes(stored("X", for: [:])))
  }

  @Test func `a compressed body matches only requests without automatic decompression`() {
    let compressed = stored("X", for: [:], [.contentEncoding: "gzip"], decompresses: false)
    #expect(compressed.fits([:], decompresses: false) && !compressed.fits([:], decompresses: true))
    let plain = stored("X", for: [:], decompresses: false)
    #expect(plain.fits([:], decompresses: true) && plain.fits([:], decompresses: false))
  }
}
