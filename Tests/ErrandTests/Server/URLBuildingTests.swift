import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct URLBuildingTests {
  private func url(_ path: String, query: HTTPQuery = [:], of remote: Remote = "https://shop.test/v1") async throws
    -> String
  {
    let stub = StubServer(.status(.ok), remote: remote)
    try await PlainTask(path: path, query: query).on(stub.server).run()
    return try #require(stub.urls.first)
  }

  @Test(arguments: [
    ("widgets/7", "https://shop.test/v1/widgets/7"), ("/widgets/7", "https://shop.test/v1/widgets/7"),
    ("", "https://shop.test/v1"), ("/", "https://shop.test/v1/"), ("?x=1", "https://shop.test/v1?x=1"),
    ("widgets/", "https://shop.test/v1/widgets/"),
    ("widgets?x=1", "https://shop.test/v1/widgets?x=1"), ("a b/c\"d", "https://shop.test/v1/a%20b/c%22d"),
    ("a%2Fb", "https://shop.test/v1/a%2Fb"), ("100%", "https://shop.test/v1/100%25"),
    ("50%zz", "https://shop.test/v1/50%25zz"),
    ("é", "https://shop.test/v1/%C3%A9"), ("a#b", "https://shop.test/v1/a%23b"),
    ("a\r\nb", "https://shop.test/v1/a%0D%0Ab"),
    ("//evil.test/x", "https://shop.test/v1//evil.test/x"), ("a:b@c", "https://shop.test/v1/a:b@c"),
    ("[x]|{y}", "https://shop.test/v1/%5Bx%5D%7C%7By%7D"),
  ])
  func `appends a path to the remote`(path: String, expected: String) async throws {
    #expect(try await url(path) == expected)
  }

  @Test(arguments: [
    "https://shop.test", "https://shop.test/", "https://shop.test/graphql", "https://shop.test/graphql/",
    "https://shop.test/a%2fb?x=%41", "https://shop.test/?", "HTTPS://Shop.test:443/graphql",
  ])
  func `a task without a path is sent to the remote's exact URL`(address: String) async throws {
    struct Nowhere: ServerGETTask {}
    struct NoSegments: ServerGETTask { let path: [String] = [] }
    let stub = StubServer(.status(.ok), remote: Remote(address))
    try await stub.server.send(Nowhere())
    try await stub.server.send(NoSegments())
    try await stub.server.ping()
    #expect(stub.urls == [address, address, address])
  }

  @Test(arguments: ["https://shop.test/graphql", "https://shop.test", "https://shop.test/a?b=c"])
  func `a task without a path sends the server's header fields and credentials`(address: String) async throws {
    let stub = StubServer(.status(.ok), remote: Remote(address)) {
      $0.standardHeaders = ["X-Own": "1"]
      $0.authentication = .basic(user: "ann", password: "pw")
    }
    try await stub.server.send(PlainTask(path: "", query: ["q": "1"]))
    #expect(stub.requests.first?.headers["X-Own"] == "1" && stub.requests.first?.headers[.authorization] != nil)
  }

  @Test func `does not send the server's headers to a host that starts with the remote's host`() async throws {
    let stub = StubServer(.status(.ok), remote: "https://shop.test") { $0.standardHeaders = ["X-Own": "1"] }
    _ = try await stub.server.send(URLTask(.known("https://shop.test.evil.test")))
    #expect(stub.requests.count == 1 && stub.requests.first?.headers["X-Own"] == nil)
  }

  @Test func `builds a separate URL for each path, even if Swift considers two paths equal`() async throws {
    let stub = StubServer(.status(.ok), remote: "https://shop.test")
    for path in ["caf\u{E9}", "cafe\u{301}", "a;b", "a\u{37E}b", "a;b"] {
      try await PlainTask(path: path).on(stub.server).run()
    }
    #expect(
      stub.urls.map { $0.replacingOccurrences(of: "https://shop.test/", with: "") } == [
        "caf%C3%A9", "cafe%CC%81", "a;b", "a%CD%BEb", "a;b",
      ])
  }

  @Test(arguments: ["https://shop.test/v1", "https://shop.test/v1/"] as [Remote])
  func `ignores a trailing slash in the remote's URL`(remote: Remote) async throws {
    #expect(try await url("a", of: remote) == "https://shop.test/v1/a")
  }

  @Test func `a path that is an absolute URL replaces the remote`() async throws {
    #expect(try await url("https://other.test/x?y=1", query: ["z": "2"]) == "https://other.test/x?y=1&z=2")
    #expect(try await url("https://other.test/x", of: .none) == "https://other.test/x")
    #expect(try await url("https://[::1]:8080/x", query: ["a": "[b]"]) == "https://[::1]:8080/x?a=%5Bb%5D")
    #expect(try await url("https://other.test/x?y=1#part", query: ["z": "2"]) == "https://other.test/x?y=1&z=2#part")
    #expect(try await url("https://other.test/a b/\u{e9}") == "https://other.test/a%20b/%C3%A9")
  }

  @Test func `appends a query to an existing query`() async throws {
    #expect(try await url("a", query: ["b": "1", "c": nil]) == "https://shop.test/v1/a?b=1")
    #expect(try await url("a?x=1", query: ["b": "1"]) == "https://shop.test/v1/a?x=1&b=1")
  }

  @Test func `the query modifier appends to the task's query`() async throws {
    let stub = StubServer(.status(.ok))
    try await PlainTask(path: "a", query: ["b": "1"]).query("c", "ü&").query("d", nil).on(stub.server).run()
    try await URLTask(.known("https://other.test/x?")).query("q", "1").on(stub.server).run()
    #expect(stub.urls.last == "https://other.test/x?q=1", "there is no empty query item before the new item")
    try await URLTask(.known("https://other.test/x#part")).query("q", "1").on(stub.server).run()
    #expect(stub.urls.first == "https://shop.test/a?b=1&c=%C3%BC%26")
    #expect(stub.urls.last == "https://other.test/x?q=1#part", "the query precedes the fragment")
  }

  @Test func `a task can store its URL or compute it from a path`() async throws {
    struct Stored: ServerGETTask { let url: URL }
    let stub = StubServer(.status(.ok))
    try await Stored(url: .known("https://other.test/y")).on(stub.server).run()
    #expect(stub.urls == ["https://other.test/y"])
    #expect(try await PlainTask(path: "a").on(stub.server).url.absoluteString == "https://shop.test/a")
  }

  @Test(arguments: ["http://shop.test/", "http://10.0.0.1", "http://localhost.evil.test"])
  func `rejects plain http`(address: String) async {
    let stub = StubServer(.status(.ok), remote: Remote(address))
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .insecureScheme)
    #expect(error?.description.contains("insecureHosts") == true)
    #expect(stub.requests.isEmpty)
  }

  @Test(arguments: [
    "http://localhost:81", "http://127.0.0.1", "http://[::1]:8080", "http://listed.test", "http://LISTED.test",
  ])
  func `allows plain http to this machine and to listed hosts`(address: String) async throws {
    for host in ["listed.test", "Listed.TEST."] {
      let stub = StubServer(.status(.ok), remote: Remote(address)) { $0.insecureHosts = [host] }
      try await PlainTask().on(stub.server).run()
      #expect(stub.requests.count == 1)
    }
  }

  @Test func `a preflight can't switch to plain http`() async {
    let stub = StubServer(.status(.ok)) { $0.preflight = { _, request in request.url = .known("http://evil.test") } }
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .insecureScheme)
  }

  @Test(arguments: ["HTTPS://other.test/x", "Https://other.test/x", "hTTp://localhost/x"])
  func `recognizes an absolute URL with an uppercase scheme`(path: String) async throws {
    #expect(try await url(path) == path)
  }

  @Test(
    arguments: [
      ("https://shop.test/v1?key=k", "a", [:], "https://shop.test/v1/a?key=k"),
      ("https://shop.test/v1/?key=k", "", [:], "https://shop.test/v1/?key=k"),
      ("https://shop.test/v1?key=k", "", ["b": "1"], "https://shop.test/v1?key=k&b=1"),
      ("https://shop.test?key=k", "a", ["b": "1"], "https://shop.test/a?key=k&b=1"),
      ("https://shop.test/v1?key=k&l", "a?x=1", ["b": "1"], "https://shop.test/v1/a?key=k&l&x=1&b=1"),
      ("https://shop.test/v1?", "a", ["b": "1"], "https://shop.test/v1/a?b=1"),
      ("https://shop.test/v1?key=k", "https://other.test/x", [:], "https://other.test/x"),
    ] as [(Remote, String, HTTPQuery, String)])
  func `the remote's query is added to every request below the remote`(
    remote: Remote, path: String, query: HTTPQuery, expected: String
  ) async throws {
    #expect(try await url(path, query: query, of: remote) == expected)
  }

  @Test func `the query modifier appends to the remote's query`() async throws {
    let stub = StubServer(.status(.ok), remote: "https://shop.test/v1?key=k")
    try await PlainTask(path: "a").query("b", "1").on(stub.server).run()
    #expect(stub.urls == ["https://shop.test/v1/a?key=k&b=1"])
  }

  @Test func `rejects a remote with a fragment`() async {
    let remote = Remote("https://shop.test/v1#part", name: "mine")
    let stub = StubServer(.status(.ok), remote: remote)
    let error = await #expect(throws: TaskError.self) { try await PlainTask(path: "a").on(stub.server).run() }
    #expect(error?.code == .badURL)
    for word in ["'mine'", "#part", "fragment"] {
      #expect(error?.reason.contains(word) == true, "\(error?.reason ?? "")")
    }
    #expect(stub.requests.isEmpty)
  }
}
