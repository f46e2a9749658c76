import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A stored property that looks like an aspect and is none is told of: it would count for nothing.
@Suite struct MisspelledTests {
  private struct M1: ServerTask { let priority = 3 }
  private struct M2: ServerTask { let httpMethod = "PATCH" }
  private struct M3: ServerTask { let retryPolicy = 3 }
  private struct M4: ServerTask { let acceptedStatuses = 200...299 }
  private struct M5: ServerTask { let taskTag: String? = nil }
  private struct M6: ServerTask { let comment = 1 }
  private struct M7: ServerTask { let idempotency = true }
  private struct M8: ServerTask { let url = "https://shop.test" }
  private struct M9: ServerTask { let url: URL? = nil }
  private struct M10: ServerTask { let paht = "x" }
  private struct M11: ServerTask { let header = ["a": "b"] }
  private struct M12: ServerTask { let querry: [String: String] = [:] }
  private struct M13: ServerTask { let timeot: Duration = .seconds(1) }
  private struct M14: DataUploadingTask {
    let uploadData = Data()
    let uploadType = "image/png"
  }
  private struct M15: ServerTask { lazy var headers = ["a": "b"] }
  private struct M16: ServerTask { let redirectPolicy = false }
  private struct M17: ServerTask { let authentication = "Bearer x" }
  private struct M18: ServerTask { let cachePolicys = CachePolicy.standard }
  private struct M19: ServerTask { let pathh = ["a", "b"] }

  private struct M20: ServerTask { let uploadPayload = ["a": 1] }
  private struct M21: ServerTask { let uploadForm = MultipartForm() }
  private struct M22: ServerTask { let encodr = JSONEncoder() }
  private struct M23: ServerTask { let parameter = ["a": "b"] }
  private class Base: @unchecked Sendable { let priority = 3 }
  private final class M24: Base, ServerTask, @unchecked Sendable {}
  private class Above: ServerTask, @unchecked Sendable {}
  private final class M25: Above, @unchecked Sendable { let headers = ["a": "b"] }

  private static let misspelled: [(any ServerTask, String)] = [
    (M1(), "priority"), (M2(), "httpMethod"), (M3(), "retryPolicy"), (M4(), "acceptedStatuses"), (M5(), "taskTag"),
    (M6(), "comment"), (M7(), "idempotency"), (M8(), "url"), (M9(), "url"), (M10(), "path"), (M11(), "headers"),
    (M12(), "query"), (M13(), "timeout"), (M14(), "uploadType"), (M15(), "headers"), (M16(), "redirectPolicy"),
    (M17(), "authentication"), (M18(), "cachePolicy"), (M19(), "path"),
    (M20(), "PayloadUploadingTask"), (M21(), "MultipartUploadingTask"), (M22(), "encoder"), (M23(), "parameters"),
    (M24(), "priority"), (M25(), "headers"),
  ]

  @Test(arguments: misspelled) func `what counts for nothing is told of, by the aspect that was meant`(
    task: any ServerTask, aspect: String
  ) {
    let problems = TaskSpelling.problems(of: task)
    #expect(
      problems.count == 1 && problems.first?.contains(aspect) == true
        && problems.first?.contains("counts for nothing") == true)
  }

  @Test func `debug builds write it to the server's log, once for every type`() async throws {
    struct Once: ServerTask { let priority = 3 }
    let lines = Shared<[String]>([])
    let stub = StubServer { $0.log = TextSink { line in lines.withLock { $0.append(line) } } }
    for _ in 0..<3 { try await Once().on(stub.server).run() }
    #expect(lines.withLock { $0 } == ["Once.priority counts for nothing, for its type is Int, not CallPriority"])
  }

  @Test func `the expectation of a request fails for it`() async {
    await #expect(throws: TaskExpectationError.self) {
      try await expectTask(M1(), sends: ExpectedRequest(.get, "/", headers: ["Accept": "*/*"]))
    }
  }

  private struct Fine: ServerTask {
    let id = 7
    let paths = 3
    let comments = ["a"]
    let name = "x"
    let uri = "y"
    let priority = CallPriority.high
  }

  @Test func `other properties are nobody's business`() { #expect(TaskSpelling.problems(of: Fine()).isEmpty) }

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

  private struct Batch: ServerPOSTTask {
    let paths: [String]
    let patch: String
    let path = "batch"
  }

  @Test func `nor what an aspect is made of, the values of cases, or names like that of one that is stated`() {
    #expect(TaskSpelling.problems(of: Choice.priority(3)).isEmpty)
    #expect(TaskSpelling.problems(of: Choice.comment(id: 3)).isEmpty)
    #expect(TaskSpelling.problems(of: Stored()).isEmpty)
    #expect(TaskSpelling.problems(of: Batch(paths: ["a"], patch: "b")).isEmpty)
  }

  private struct Ranked: ServerTask { let priority: Int }

  @Test func `an expectation may name the properties that are meant for nothing else`() async throws {
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
  ]) func `names one slip apart`(left: String, right: String, isOneOff: Bool) {
    #expect(TaskSpelling.isOneOff(left, right) == isOneOff && TaskSpelling.isOneOff(right, left) == isOneOff)
  }
}
