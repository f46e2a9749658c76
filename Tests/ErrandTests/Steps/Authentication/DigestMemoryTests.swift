import Foundation
import Testing

@testable import Errand

/// The nonces remembered for a server.
@Suite(.timeLimit(.minutes(1))) struct DigestMemoryTests {
  private func owner(_ user: String = "ann", _ url: String = "https://shop.test") throws -> DigestMemory.Owner {
    DigestMemory.Owner(
      origin: try #require(Origin(.known(url))), credential: Credential(user: user, password: "sesame"))
  }

  private func challenge(_ nonce: String, realm: String = "r", _ more: String = #"qop="auth""#) throws
    -> DigestChallenge
  {
    let headers: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="\#(realm)", nonce="\#(nonce)", \#(more)"#]
    let best = DigestChallenge.best(in: headers, of: try owner().origin, hasBodyInMemory: true)
    return try #require(best).get()
  }

  private func known(_ memory: inout DigestMemory, _ owner: DigestMemory.Owner, _ target: String = "/a")
    -> DigestSession?
  {
    memory.known(for: target, owner, hasBodyInMemory: false)
  }

  @Test func `stores an accepted session only for its owner`() throws {
    var memory = DigestMemory()
    let (ann, bob, elsewhere) = (try owner(), try owner("bob"), try owner("ann", "https://other.test"))
    let session = memory.session(for: try challenge("n1"), ann, clientNonce: "c")
    let isKnown = known(&memory, ann) != nil
    #expect(session.count == 1 && !isKnown)
    memory.accepted(session, ann, next: nil)
    let strangers = [known(&memory, bob), known(&memory, elsewhere)]
    #expect(strangers == [nil, nil])
    let (second, third) = (known(&memory, ann), known(&memory, ann))
    #expect(second?.count == 2 && third?.count == 3 && third?.clientNonce == "c")
    memory.refused(session, ann)
    #expect(known(&memory, ann) == nil)
  }

  @Test func `continues the nonce count of a repeated nonce, even after a rejection`() throws {
    var memory = DigestMemory()
    let ann = try owner()
    let challenge = try challenge("n1")
    let first = memory.session(for: challenge, ann, clientNonce: "c")
    let second = memory.session(for: challenge, ann, clientNonce: "d")
    memory.refused(first, ann)
    let third = memory.session(for: challenge, ann, clientNonce: "e")
    #expect([first, second, third].map(\.count) == [1, 2, 3] && third.clientNonce == "c")
  }

  @Test func `replaces the nonce with nextnonce and ignores late responses to the old nonce`() throws {
    var memory = DigestMemory()
    let ann = try owner()
    let session = memory.session(for: try challenge("n1"), ann, clientNonce: "c")
    memory.accepted(session, ann, next: "n2")
    memory.accepted(session, ann, next: nil)
    memory.accepted(session, ann, next: "n2")
    let (first, second) = (known(&memory, ann), known(&memory, ann))
    #expect(first?.challenge.nonce == "n2" && first?.count == 1 && first?.firstNonce == "n1")
    #expect(second?.challenge.nonce == "n2" && second?.count == 2)
  }

  // RFC 7616 §3.3.
  @Test func `authenticates preemptively only within the challenge's domain`() throws {
    var memory = DigestMemory()
    let ann = try owner()
    let bounded = try challenge("n1", #"qop="auth", domain="/a https://shop.test/b https://other.test/c""#)
    memory.accepted(memory.session(for: bounded, ann, clientNonce: "c"), ann, next: nil)
    let found = ["/a", "/a/x?y", "/b/x", "/c", "/"].map { known(&memory, ann, $0) != nil }
    #expect(found == [true, true, true, false, false])
  }

  @Test func `stores a domain as path prefixes at the origin and treats an oversized domain as empty`() throws {
    func domain(_ text: String) throws -> [String]? { try challenge("n1", #"qop="auth", domain="\#(text)""#).domain }
    #expect(try domain("/a https://SHOP.test:443/b?c https://other.test/d e") == ["/a", "/b?c"])
    #expect(try domain("https://other.test/") == [])
    #expect(try domain(" ") == nil)
    let long = String(repeating: "/ ", count: DigestChallenge.largestSize / 2)
    #expect(try domain(String(long.dropLast(4))) != [])
    #expect(try domain(long) == [])
    var memory = DigestMemory()
    let ann = try owner()
    memory.keep(try challenge("n1", #"qop="auth", domain="\#(long)""#), ann, clientNonce: "c")
    #expect(known(&memory, ann) == nil)
  }

  @Test func `does not use auth-int for a body that is not in memory`() throws {
    var memory = DigestMemory()
    let ann = try owner()
    let challenge = try challenge("n1", "qop=auth-int")
    memory.accepted(memory.session(for: challenge, ann, clientNonce: "c"), ann, next: nil)
    #expect(known(&memory, ann) == nil)
    let inMemory = memory.known(for: "/", ann, hasBodyInMemory: true)
    #expect(inMemory?.count == 2)
  }

  @Test func `keeps the 64 most recently used sessions`() throws {
    var memory = DigestMemory()
    let ann = try owner()
    memory.keep(try challenge("n0"), ann, clientNonce: "c")
    for number in 1..<DigestMemory.limit {
      _ = memory.session(for: try challenge("n\(number)"), ann, clientNonce: "c")
    }
    #expect(known(&memory, ann)?.challenge.nonce == "n0")
    for number in 100..<(100 + DigestMemory.limit - 1) {
      _ = memory.session(for: try challenge("n\(number)"), ann, clientNonce: "c")
    }
    #expect(known(&memory, ann)?.challenge.nonce == "n0")
    for number in 200..<(200 + DigestMemory.limit) {
      _ = memory.session(for: try challenge("n\(number)"), ann, clientNonce: "c")
    }
    #expect(known(&memory, ann) == nil)
  }

  @Test func `evicts superseded sessions before known sessions`() throws {
    var memory = DigestMemory()
    let (ann, bob) = (try owner(), try owner("bob"))
    memory.keep(try challenge("b"), bob, clientNonce: "c")
    var session = memory.session(for: try challenge("n0"), ann, clientNonce: "c")
    for number in 1...DigestMemory.limit {
      memory.accepted(session, ann, next: "n\(number)")
      session = try #require(known(&memory, ann))
    }
    #expect(known(&memory, bob)?.challenge.nonce == "b")
  }

  @Test func `sessions with an empty domain do not evict a session that is in use`() throws {
    var memory = DigestMemory()
    let (ann, bob) = (try owner(), try owner("bob"))
    memory.accepted(memory.session(for: try challenge("n"), ann, clientNonce: "c"), ann, next: nil)
    for number in 0..<(2 * DigestMemory.limit) {
      let elsewhere = try challenge("\(number)", realm: "r", #"qop="auth", domain="https://other.test/""#)
      #expect(elsewhere.domain == [])
      memory.accepted(memory.session(for: elsewhere, bob, clientNonce: "c"), bob, next: "next \(number)")
    }
    let (kept, other) = (known(&memory, ann), known(&memory, bob))
    #expect(kept != nil && other == nil)
  }
}
