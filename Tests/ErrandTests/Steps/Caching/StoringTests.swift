import Foundation
import Testing

@testable import Errand

/// The responses and headers that are stored (RFC 9111 §3).
@Suite(.timeLimit(.minutes(1))) struct StoringTests {
  private typealias World = CacheRulesWorld

  // §3: "the request method is understood by the cache".
  @Test func `stores only responses to GET`() {
    let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    #expect(World.allows(.ok, fresh))
    for method in [HTTPMethod.head, .post, .put, .options, .query, "FOO"] {
      #expect(!World.allows(.ok, fresh, method: method))
    }
  }

  // §3: "the response status code is final"; and "if the response status code is 206 or 304, or the must-understand
  // cache directive (...) is present: the cache understands the response status code".
  @Test func `does not store partial or non-final responses`() {
    let fresh: HTTPHeaders = [.cacheControl: "max-age=60, public"]
    for code in [100, 103, 206, 304] { #expect(!World.allows(HTTPStatus(code), fresh), "\(code)") }
    let ranged: HTTPHeaders = [.cacheControl: "max-age=60", .contentRange: "bytes 0-1/2"]
    #expect(World.allows(.ok, ranged) && World.allows(.notFound, ranged))
    #expect(!World.allows(.ok, ranged, request: [.range: "bytes=0-1"]), "the response may still be partial")
  }

  // §3: at least one of: a public directive; private, if the cache is not shared; Expires; max-age; a status code that
  // is defined as heuristically cacheable.
  @Test func `stores a response that is cacheable by default or marked cacheable by the server`() {
    for code in 200...599 where ![206, 304, 412, 416].contains(code) && !Self.aboutExchange.contains(code) {
      let isKind = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
      #expect(World.allows(HTTPStatus(code)) == isKind, "\(code)")
      for control in ["public", "private", "max-age=1", "Max-Age=\"0\""] {
        #expect(World.allows(HTTPStatus(code), [.cacheControl: control]), "\(code) \(control)")
      }
      #expect(World.allows(HTTPStatus(code), [.expires: World.date(60)]), "\(code)")
      #expect(World.allows(HTTPStatus(code), [.cacheControl: "s-maxage=60"]) == isKind, "\(code)")
    }
  }

  private static let aboutExchange = [401, 407, 408, 421, 425, 428, 429, 431, 511]

  // RFC 6585 §3 to §6: "Responses with the 428 status code MUST NOT be stored by a cache". The same applies to 429, 431
  // and 511. The other statuses concern the credentials or the connection of a single request.
  @Test(arguments: aboutExchange) func `never stores a response whose status applies to a single exchange`(code: Int) {
    for control in ["max-age=3600", "public", "private, max-age=1", "must-understand, max-age=60"] {
      #expect(!World.allows(HTTPStatus(code), [.cacheControl: control]), "\(control)")
    }
    #expect(!World.allows(HTTPStatus(code), [.expires: World.date(60)]))
  }

  // §3: "the no-store cache directive is not present in the response", and §5.2.2.5.
  @Test func `does not store a response with no-store in any spelling`() {
    let hidden = ["max-age=60, x=\"a, no-store", "\"a, no-store, max-age=60", "max-age=60, x=\"a,no-store\"b"]
    for control in ["no-store", "max-age=60, No-Store", "no-store=x", "no-store, max-age=60"] + hidden {
      #expect(!World.allows(.ok, [.cacheControl: control]), "\(control)")
    }
    #expect(!World.allows(.ok, ["Cache-Control": "max-age=60", "cache-control": "no-store"]))
    #expect(World.allows(.ok, [.cacheControl: "max-age=60, x=\"no-store\""]))
  }

  // §5.2.2.3: "a cache that implements must-understand SHOULD ignore the no-store directive when present with it, if
  // the status code is one that it understands". Otherwise, it must not store the response.
  @Test func `must-understand overrides no-store if the status is known`() {
    #expect(World.allows(.ok, [.cacheControl: "must-understand, no-store, max-age=60"]))
    #expect(!World.allows(299, [.cacheControl: "must-understand, max-age=60"]))
  }

  // RFC 9110 §13.1.1 and §14.2: a response to a conditional or range request can't be used for other requests.
  @Test func `does not store responses to conditional requests or error responses to range requests`() {
    let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]
    for code in [412, 416] { #expect(!World.allows(HTTPStatus(code), fresh)) }
    for name in [HTTPHeaderName.ifMatch, .ifUnmodifiedSince, .ifRange] {
      #expect(!World.allows(.ok, fresh, request: [name: "\"1\""]), "\(name)")
    }
    #expect(!World.allows(404, fresh, request: [.range: "bytes=0-1"]))
    #expect(World.allows(.ok, fresh, request: [.range: "bytes=0-1"]))
  }

  @Test func `equivalent URLs have the same cache key`() {
    for url in ["https://shop.test/w/7", "https://shop.test:443/w/7", "HTTPS://Shop.test/w/7#part"] {
      #expect(CacheKey.text(of: url) == "https://shop.test/w/7", "\(url)")
    }
    for (url, text) in [
      ("http://shop.test:80", "http://shop.test/"), ("https://shop.test:80/W", "https://shop.test:80/W"),
      ("https://shop.test?A=1", "https://shop.test/?A=1"), ("https://Me:PW@Shop.test/", "https://shop.test/"),
      ("https://me:p@w@shop.test/w/7", "https://shop.test/w/7"), ("https://shop.test/@7", "https://shop.test/@7"),
      ("https://me@shop.test?a=@", "https://shop.test/?a=@"),
      ("http://[::80]:80/a", "http://[::80]/a"), ("http://a:80/b", "http://a/b"),
      ("https://shop.test:8443/W", "https://shop.test:8443/W"), ("https://shop.test/w#A", "https://shop.test/w"),
      ("https://shop.test?a=/b/c", "https://shop.test/?a=/b/c"),
      ("https://shop.test/?u=http://A:80", "https://shop.test/?u=http://A:80"),
    ] {
      #expect(CacheKey.text(of: url) == text, "\(url)")
    }
  }

  // §3.5 applies only to shared caches. §5.2.2.7: "private (...) a private cache MAY store the response".
  @Test func `stores a private response to a request with credentials`() {
    #expect(World.allows(.ok, [.cacheControl: "private"], request: [.authorization: "Bearer x"]))
  }

  // §4.1: "A stored response with a Vary header field value containing a member "*" always fails to match."
  @Test func `does not store a response with Vary *`() {
    #expect(!World.allows(.ok, [.cacheControl: "max-age=60", .vary: "Accept, *"]))
  }

  // §3.1: "Caches MUST include all received response header fields -- including unrecognized ones -- when storing a
  // response", except Connection, the fields that it names, proxy fields, and fields named by no-cache.
  @Test func `stores all headers except connection headers`() {
    let headers: HTTPHeaders = [
      "X-Own": "1", "X-Own": "2", "Connection": "X-Hop, close", "X-Hop": "1", "Keep-Alive": "1",
      "Transfer-Encoding": "chunked", "Proxy-Authenticate": "Basic", "Upgrade": "h2c", "TE": "x", "Trailer": "x",
      "ETag": "\"1\"", "Date": World.date(0), "Set-Cookie": "a=1",
    ]
    let kept = StoredHeader.stored(headers, responseTime: World.start)
    #expect(kept.map(\.name.rawName) == ["X-Own", "X-Own", "ETag", "Date", "Set-Cookie"])
  }

  // RFC 9110 §6.6.1: "A recipient with a clock that receives a response message without a Date header field MUST record
  // the time it was received and append a corresponding Date header field to the message's header section if it is
  // cached".
  @Test(arguments: [HTTPHeaders(), ["Date": "yesterday"]]) func `sets a missing or invalid Date`(headers: HTTPHeaders) {
    #expect(StoredHeader.stored(headers, responseTime: World.start)[.date] == World.date(0))
  }
}
