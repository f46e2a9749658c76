import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct HeaderPrecedenceTests {
  private struct Styled: ServerGETTask {
    var headers: HTTPHeaders { ["x-level": "task", "X-Task": "1"] }
  }

  private func sent(by stub: StubServer, _ task: some ServerTask = PlainTask()) async throws -> HTTPHeaders {
    try await task.on(stub.server).run()
    return try #require(stub.requests.last).headers
  }

  @Test func `task headers override computed headers, which override standard headers`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.standardHeaders = ["X-Level": "standard", "X-Standard": "1", "X-Both": "standard"]
      $0.computedHeaders = { _ in ["X-Level": "computed", "x-both": "computed"] }
    }
    let headers = try await sent(by: stub, Styled())
    #expect(headers.values(for: "X-Level") == ["task"], "the task's value replaces the others")
    #expect(headers.values(for: "X-Both") == ["computed"])
    #expect(headers["X-Standard"] == "1" && headers["X-Task"] == "1")
    #expect(try await sent(by: stub).values(for: "X-Level") == ["computed"])
  }

  @Test func `a modifier replaces the task's header`() async throws {
    let headers = try await sent(by: StubServer(.status(.ok)), Styled().header("X-LEVEL", "modifier"))
    #expect(headers.values(for: "X-Level") == ["modifier"])
  }

  @Test func `sends a user agent and accepts any media type by default`() async throws {
    let headers = try await sent(by: StubServer(.status(.ok)))
    #expect(headers[.accept] == "*/*" && headers[.userAgent] == "tests")
    #expect(try await sent(by: StubServer(.status(.ok)) { $0.userAgent = "" })[.userAgent] == nil)
    #expect(
      try await sent(by: StubServer(.status(.ok)) { $0.standardHeaders = [.userAgent: "mine"] })[.userAgent] == "mine")
    #expect(ServerConfiguration.defaultUserAgent.allSatisfy { $0.isASCII && !$0.isNewline })
  }

  @Test func `sets the body's content type unless the task sets another`() async throws {
    #expect(try await sent(by: StubServer(.widget), AddWidget())[.contentType] == "application/json")
    let own = AddWidget().header(.contentType, "application/vnd.shop+json")
    #expect(try await sent(by: StubServer(.widget), own).values(for: .contentType) == ["application/vnd.shop+json"])
  }

  @Test func `preflights can change the headers, and the task's preflight runs before the server's`() async throws {
    struct Signed: ServerGETTask {
      func preflight(_ request: inout HTTPRequest) async throws {
        request.headers["X-Signed"] = request.headers["X-Standard"]
      }
    }
    let stub = StubServer(.status(.ok)) {
      $0.standardHeaders = ["X-Standard": "1"]
      $0.preflight = { task, request in
        #expect(task is Signed)
        request.headers["X-Signed"]? += "2"
        request.headers["X-Standard"] = nil
      }
    }
    let headers = try await sent(by: stub, Signed().timeout(.seconds(5)))
    #expect(headers["X-Signed"] == "12" && headers["X-Standard"] == nil)
  }

  // RFC 9110 §10.1.5: product = token ["/" product-version].
  @Test(
    arguments: [
      ("Shop", "1.2", "Shop/1.2 "), ("My Shop", "1.0 (7)", "MyShop/1.07 "), ("Приложение", "1.0", ""),
      ("(Б)2", nil, "2 "),
      ("caf\u{E9} \u{2603}", "β1", "caf/1 "), ("a/b", "", "ab "), ("", "1.0", ""), ("()", nil, ""), ("日本", "2", ""),
      ("x\r\nEvil: 1", nil, "xEvil1 "), ("A\u{308}rger", nil, "Arger "), ("a\0b\u{7F}\t", nil, "ab "),
    ] as [(String, String?, String)])
  func `the user agent starts with a valid product for any executable name`(
    name: String, version: String?, product: String
  ) {
    let agent = ServerConfiguration.userAgent(of: name, version: version)
    #expect(agent.hasPrefix("\(product)Errand/0.1 ("))
    #expect(
      agent.wholeMatch(of: /([!#$%&'*+\-.^_`|~0-9A-Za-z]+(\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)? )+\([A-Za-z]+\)/) != nil)
  }
}
