import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Warnings about stored properties that look like task settings but have no effect.
@Suite(.timeLimit(.minutes(1))) struct MisspelledTests {
  @Test func `debug builds log an ignored property once per type`() async throws {
    struct Once: ServerTask { let priority = 3 }
    let lines = Shared<[String]>([])
    let stub = StubServer { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
    for _ in 0..<3 { try await Once().on(stub.server).run() }
    #expect(lines.withLock { $0 } == ["Once.priority is ignored because its type is Int, not CallPriority"])
  }

  private struct Posted: ServerTask { let method = HTTPMethod.post }
  private struct Contradicting: ServerGETTask { let method = HTTPMethod.post }
  private struct Named: ServerTask { let method = "put" }
  private struct Elsewhere: ServerTask { let baseURL = URL.known("https://other.test/v2") }
  private struct Chosen: ServerTask {
    let method: HTTPMethod
    let baseURL: URL
    var httpMethod: HTTPMethod { method }
    var url: URL { baseURL.appendingPathComponent("widgets") }
  }

  @Test func `suggests httpMethod for method, and the server's remote for baseURL`() async throws {
    func problems(_ task: some ServerTask) async throws -> [String] {
      let lines = Shared<[String]>([])
      let stub = StubServer { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      try await task.on(stub.server).run()
      return lines.withLock { $0 }
    }
    for (task, name) in [(Posted(), "Posted"), (Contradicting(), "Contradicting"), (Named(), "Named")]
      as [(any ServerTask, String)]
    {
      let text = "\(name).method is ignored: ServerTask has no property 'method'. Did you mean httpMethod?"
      #expect(try await problems(task) == [text])
    }
    let base = "Elsewhere.baseURL is ignored: ServerTask has no property 'baseURL'. Did you mean "
    #expect(try await problems(Elsewhere()) == [base + #"the server's remote, as in Server("https://…")?"#])
    #expect(try await problems(Chosen(method: .put, baseURL: .known("https://other.test/v2"))) == [])
  }

  private struct Overriding: ServerTask {
    let userAgent = "mine/1"
    let maximumBodySize = 100
    let defaultTimeout: Duration = .seconds(5)
    let deadline: Duration = .seconds(5)
    let cookies = CookiePolicy.none
  }
  private struct Using: ServerTask {
    let userAgent = "mine/1"
    let cookies = CookiePolicy.none
    let disabled = true
    let deadline = "tomorrow"
    var cookiePolicy: CookiePolicy { cookies }
    var headers: HTTPHeaders { [.userAgent: userAgent] }
  }

  @Test func `reports a property named like a server setting or a modifier, unless the task uses it`() {
    #expect(
      TaskSpelling.problems(of: Overriding()) == [
        "Overriding.userAgent is ignored: it is a setting of the server, not of a task. Set it in Server(…) { $0.userAgent = … }",
        "Overriding.maximumBodySize is ignored: it is a setting of the server, not of a task. Set it in Server(…) { $0.maximumBodySize = … }",
        "Overriding.defaultTimeout is ignored: it is a setting of the server, not of a task. Set it in Server(…) { $0.defaultTimeout = … }",
        "Overriding.deadline is ignored: ServerTask has no property 'deadline'. Did you mean timeouts?",
        "Overriding.cookies is ignored: ServerTask has no property 'cookies'. Did you mean cookiePolicy?",
      ])
    #expect(TaskSpelling.problems(of: Using()) == [])
  }

  private struct Fine: ServerTask {
    let id = 7
    let paths = 3
    let comments = ["a"]
    let name = "x"
    let uri = "y"
    let priority = CallPriority.high
    let header = Part()
    let url = URL.known("https://shop.test/")
  }
  private struct Part: Codable { var id = 7 }

  @Test func `accepts unrelated properties`() { #expect(TaskSpelling.problems(of: Fine()).isEmpty) }

  private enum Choice: ServerTask {
    case priority(Int)
    case comment(id: Int)
  }

  private struct Stored: ServerTask {
    private let _path = "a"
    private let _headers = ["a": "b"]
    private let _timeout: Duration? = .seconds(1)
    var path: String { _path }
    var headers: [String: String] { _headers }
    var timeout: Duration? { _timeout }
  }

  private struct Composed: ServerPOSTTask {
    let body = "a"
    let queryItems = ["a": "b"]
    let method = "x"
    let retries = 3
    let params = 7
    var httpMethod: HTTPMethod { .put }
    var retryPolicy: RetryPolicy { .fixed(retries: retries, delay: .zero) }
    var query: HTTPQuery { [method: "1"] }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .text(body) }
  }

  @Test func `accepts other libraries' names for settings that the task implements itself`() async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
    try await Composed().on(stub.server).run()
    #expect(lines.withLock { $0 } == [])
    try await expectTask(Composed(), sends: ExpectedRequest(.put, "/?x=1", body: .text("a")))
  }

  private struct Batch: ServerPOSTTask {
    let paths: [String]
    let patch: String
    let path = "batch"
  }

  @Test func `accepts backing properties, enum cases and names similar to an implemented property`() {
    #expect(TaskSpelling.problems(of: Choice.priority(3)).isEmpty)
    #expect(TaskSpelling.problems(of: Choice.comment(id: 3)).isEmpty)
    #expect(TaskSpelling.problems(of: Stored()).isEmpty)
    #expect(TaskSpelling.problems(of: Batch(paths: ["a"], patch: "b")).isEmpty)
  }

  private struct Ranked: ServerTask { let priority: Int }

  @Test func `expectTask accepts properties listed in otherProperties`() async throws {
    let expected = ExpectedRequest(.get, "/", headers: ["Accept": "*/*"])
    await #expect(throws: TaskExpectationError.self) { try await expectTask(Ranked(priority: 1), sends: expected) }
    try await expectTask(Ranked(priority: 1), sends: expected, otherProperties: ["priority"])
  }

  @Test(arguments: [
    ("path", "paht", true), ("path", "pat", true), ("path", "paths", true), ("path", "bath", true),
    ("path", "path", false),
    ("path", "pa", false), ("path", "phta", false), ("headers", "header", true), ("query", "qurey", true),
    ("", "a", true),
    ("ab", "ba", true), ("abc", "cba", false),
  ]) func `recognizes names that differ by one typo`(left: String, right: String, isOneOff: Bool) {
    #expect(TaskSpelling.isOneOff(left, right) == isOneOff && TaskSpelling.isOneOff(right, left) == isOneOff)
  }
}
