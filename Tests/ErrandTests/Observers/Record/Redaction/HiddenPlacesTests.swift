import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Values hidden by their JSON path, and bodies hidden by their type.
@Suite(.timeLimit(.minutes(1))) struct HiddenPlacesTests {
  private func text(_ body: String, hiding paths: Set<String>, _ type: MediaType = .json) -> String {
    Redaction(headers: [], fields: [], paths: paths).body(Data(body.utf8), type: type, limit: 1 << 20)
  }

  @Test(arguments: [
    (
      ["customer.email"], #"{"email":"a","customer":{"email":"b","id":1}}"#,
      #"{"email":"a","customer":{"email":"*","id":1}}"#
    ),
    (["email"], #"{"email":"a","customer":{"email":"b"}}"#, #"{"email":"*","customer":{"email":"b"}}"#),
    (["customer"], #"{"customer":{"email":["b",{}]},"id":1}"#, #"{"customer":{"email":["*",{}]},"id":1}"#),
    (
      ["cards.number"], #"{"cards":[{"number":1,"id":2},{"number":3}]}"#,
      #"{"cards":[{"number":0,"id":2},{"number":0}]}"#
    ),
    (
      ["number"], #"[[{"number":1}],{"number":3,"a":{"number":4}}]"#,
      #"[[{"number":0}],{"number":0,"a":{"number":4}}]"#
    ),
    (
      ["*.email"], #"{"a":{"email":1},"email":2,"b":{"c":{"email":3}}}"#,
      #"{"a":{"email":0},"email":2,"b":{"c":{"email":3}}}"#
    ),
    (["a.*"], #"{"a":{"b":1,"c":[2]},"b":3}"#, #"{"a":{"b":0,"c":[0]},"b":3}"#),
    (["customer.firstName"], #"{"Customer":{"first_name":"b"}}"#, #"{"Customer":{"first_name":"*"}}"#),
    (["a.b", "a.c.d"], #"{"a":{"b":1,"c":{"d":2,"b":3}}}"#, #"{"a":{"b":0,"c":{"d":0,"b":3}}}"#),
    (["a.b"], #"{"a":{"x":{"y":[1,{"z":2}]},"b":1},"b":2}"#, #"{"a":{"x":{"y":[1,{"z":2}]},"b":0},"b":2}"#),
    (["a.b"], #"{"a":1,"b":2,"a":{"b":3}}"#, #"{"a":1,"b":2,"a":{"b":0}}"#),
    (["a.b"], "{\"a\":{\"b\":1}}\n{\"a\":{\"b\":2}}", "{\"a\":{\"b\":0}}\n{\"a\":{\"b\":0}}"),
    (["a.b"], "{\"a\":{\"b\":1\n{\"a\":{\"b\":2}}", "{\"a\":{\"b\":0\n{\"a\":{\"b\":0}}"),
    (["a.b"], "data: 5\" wide\n\ndata: {\"a\":{\"b\":2}}", "data: 5\" wide\n\ndata: {\"a\":{\"b\":0}}"),
    (["x.b"], "{\"x\":[\n{\"b\":1},\n{\"b\":2}\n]}", "{\"x\":[\n{\"b\":0},\n{\"b\":0}\n]}"),
    (["a.b"], #"{"a":{"b":"cut"#, #"{"a":{"b":"*""#),
    (["c.e"], "{\"n\":\"one\ntwo\",\"c\":{\"e\":\"b\"}}", "{\"n\":\"one\ntwo\",\"c\":{\"e\":\"*\"}}"),
    (["c.e"], "{\"n\":\"one\r\ntwo\",\"c\":{\"e\":1}}", "{\"n\":\"one\r\ntwo\",\"c\":{\"e\":0}}"),
    (["c.e"], "{\"n\":\"see\n [x]\",\"c\":{\"e\":1}}", "{\"n\":\"see\n [x]\",\"c\":{\"e\":0}}"),
    (["c.e"], "missing \" in line 3\n  {\"c\":{\"e\":1}}", "missing \" in line 3\n  {\"c\":{\"e\":0}}"),
    (["c.e"], "{\"n\":\"cut,\n \"c\":{\"e\":1}}", "{\"n\":\"cut,\n \"c\":{\"e\":0}}"),
    (["a.b"], #"{"a":[[[]],[[{"b":1}]],{"b":2}],"b":3}"#, #"{"a":[[[]],[[{"b":0}]],{"b":0}],"b":3}"#),
    (["a.b"], #"]}}{"a":{"b":1}}"#, #"]}}{"a":{"b":0}}"#),
    (["a.b"], #"{"\u0061":{"b":1}}"#, #"{"\u0061":{"b":0}}"#),
    (["a"], #"{"b":"a","c":"\"a\":1"}"#, #"{"b":"a","c":"\"a\":1"}"#),
  ]) func `hides members by path`(paths: [String], body: String, shown: String) {
    #expect(text(body, hiding: Set(paths)) == shown.replacing("*", with: Redaction.mark))
  }

  @Test func `hides members in each event of a stream`() {
    let events = "id: 1\ndata: {\"a\":{\"b\":1}}\n\ndata: {\"b\":2}\n\n"
    #expect(
      text(events, hiding: ["a.b"], "text/event-stream")
        == "id: 1\ndata: {\"a\":{\"b\":0}}\n\ndata: {\"b\":2}\n\n"
    )
  }

  @Test func `hides secret names in addition to paths`() {
    var redaction = Redaction.standard
    redaction.paths = ["a.b"]
    let body = Data(#"{"a":{"b":1,"token":2},"b":3}"#.utf8)
    #expect(
      redaction.body(body, type: .json, limit: 100) == #"{"a":{"b":0,"token":0},"b":3}"#)
    redaction.paths = []
    #expect(redaction.body(body, type: .json, limit: 100) == #"{"a":{"b":1,"token":0},"b":3}"#)
  }

  @Test func `handles paths in deeply nested JSON`() {
    let depth = 100_000
    let body = String(repeating: "[", count: depth) + #"{"a":1}"# + String(repeating: "]", count: depth)
    #expect(text(body, hiding: ["a"]).contains(#"{"a":0}"#))
  }

  @Test(
    arguments: [
      (["application/json"], "application/json; charset=utf-8", true), (["Text/*"], "text/plain", true),
      (["text/*"], "application/json", false), (["*/*"], nil, true), (["text/plain"], nil, false),
      (["image/*"], "image/png", true), ([], "text/plain", false),
    ] as [([MediaType], MediaType?, Bool)])
  func `hides bodies by media type`(types: [MediaType], type: MediaType?, isHidden: Bool) {
    var redaction = Redaction.none
    redaction.bodies = Set(types)
    let data = Data("s3cret".utf8)
    let recorded = redaction.recorded(data, type: type, limit: 100)
    #expect((recorded.text == nil && recorded.data == nil) == isHidden)
    #expect(redaction.body(data, type: type, limit: 100).contains("s3cret") != (isHidden || type == "image/png"))
    #expect(redaction.excerpt(of: data, type: type, count: 100).isEmpty == (isHidden || type == "image/png"))
    if isHidden {
      #expect(recorded.note == "<6 bytes of \(type?.essence ?? "data"), hidden by the redaction>")
    }
  }

  private struct Answer: TaskPayload { let customer: [String: Kind] }
  private enum Kind: String, Codable { case known }

  @Test func `errors do not quote hidden values`() async throws {
    func reason(_ answer: StubLog.Answer, _ change: (inout Redaction) -> Void) async -> String {
      let stub = StubServer(answer) { change(&$0.redaction) }
      let error = await taskError {
        _ = try await Endpoint<Void, Answer>.get("x").on(stub.server).retry(.never).download()
      }
      return error.map { "\($0)" } ?? ""
    }
    let wrong = StubLog.Answer.json(#"{"customer":{"email":"s3cret"}}"#)
    #expect(await reason(wrong) { $0.paths = [] }.contains("s3cret"))
    let hidden = await reason(wrong) { $0.paths = ["customer.email"] }
    #expect(!hidden.contains("s3cret") && hidden.contains("at customer.email: the value is invalid"))
    let whole = await reason(wrong) { $0.bodies = ["application/json"] }
    #expect(!whole.contains("s3cret") && whole.contains("at customer.*: the value is invalid"))

    let problem = StubLog.Answer.data(
      Data(#"{"title":"Taken","detail":"s3cret"}"#.utf8), "application/problem+json", 409)
    #expect(await reason(problem) { $0.paths = [] }.contains("Taken: s3cret"))
    let titled = await reason(problem) { $0.paths = ["detail"] }
    #expect(!titled.contains("s3cret") && titled.contains("409 Conflict: Taken"))
    let silent = await reason(problem) { $0.bodies = ["application/*"] }
    #expect(!silent.contains("s3cret") && !silent.contains("Taken"))
    let wide = StubLog.Answer.data(
      Data(#"{"title":"x","detail":"s3cret"}"#.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }),
      "application/problem+json", 409)
    #expect(await !reason(wide) { $0.paths = ["detail"] }.contains("s3cret"))
    #expect(await reason(problem) { $0.bodies = ["text/*"] }.contains("Taken: s3cret"), "the body's type is not hidden")
    let page = StubLog.Answer.data(Data("<title>s3cret</title>".utf8), "text/html", 500)
    #expect(await reason(page) { $0.bodies = [] }.contains("s3cret"))
    #expect(await !reason(page) { $0.bodies = ["text/html"] }.contains("s3cret"))
  }

  @Test func `hides values below numeric keys and omits dictionary keys from errors`() async throws {
    struct Customers: TaskPayload { let byNumber: [String: [String: Kind]] }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    func reason(_ redaction: Redaction) async -> String {
      let stub = StubServer(.json(#"{"by_number":{"17":{"tier":"s3cret"}}}"#)) {
        ($0.redaction, $0.defaultDecoder) = (redaction, decoder)
      }
      return await taskError { _ = try await Endpoint<Void, Customers>.get("x").on(stub.server).download() }?.reason
        ?? ""
    }
    #expect(await reason(Redaction(headers: [], fields: [], paths: ["byNumber.*.name"])).contains("s3cret"))
    #expect(await !reason(Redaction(headers: [], fields: [], paths: ["byNumber.*.tier"])).contains("s3cret"))
    let whole = await reason(Redaction(headers: [], fields: [], bodies: ["application/json"]))
    #expect(whole.hasSuffix("at byNumber.*.*: the value is invalid"), "\(whole)")
  }

  private struct Refusal: TaskPayload, CustomStringConvertible {
    let message: String
    var description: String { message }
  }

  @Test func `hides a payload's description if paths are hidden`() async throws {
    for paths: Set<String> in [[], ["message"]] {
      let stub = StubServer(.data(Data(#"{"message":"s3cret is taken"}"#.utf8), .json, 422)) {
        $0.errorPayload = Refusal.self
        $0.redaction.paths = paths
      }
      let error = try #require(await taskError { try await PlainTask().on(stub.server).run() })
      #expect("\(error)".contains("s3cret") == paths.isEmpty, "\(error)")
      #expect(error.payload(as: Refusal.self)?.message == "s3cret is taken")
    }
  }

  @Test func `a problem document has no summary if its media type is hidden`() {
    let problem = Data(#"{"title":"s3cret","detail":"s3cret"}"#.utf8)
    let hiding = Redaction(headers: [], fields: [], bodies: ["application/problem+json"])
    #expect(hiding.summary(of: problem, type: .problem).isEmpty && !hiding.summary(of: problem, type: .json).isEmpty)
  }

  @Test func `a decoding error for a JSON value does not quote the value`() throws {
    let value = JSONValue.object(["tier": "s3cret"])
    let error = #expect(throws: TaskError.self) { try value.decoded([String: Kind].self) }
    #expect(error?.reason.contains("s3cret") == false && error?.reason.contains("the value is invalid") == true)
  }
}
