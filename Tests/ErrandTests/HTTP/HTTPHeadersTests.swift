import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPHeadersTests {
  @Test(arguments: [
    ("X A", "b", "has an invalid name"), ("X-A", "b\nc", "has a line break or a NUL in its value"),
  ])
  func `rejects an invalid header field and names it in the error`(
    name: String, value: String, words: String
  ) async throws {
    let stub = StubServer(.status(.ok))
    let task = PlainTask().on(stub.server).header(HTTPHeaderName(name), value)
    let error = try #require(await taskError { try await task.run() })
    #expect(error.code == .badRequest && error.reason == "the header field \"\(name)\" \(words)", "\(error)")
    #expect(stub.requests.isEmpty)
  }

  @Test func `keeps the order and duplicates of fields`() {
    var headers: HTTPHeaders = ["B": "1", "A": "2", "b": "3"]
    headers.add("4", for: "A")
    #expect(headers.map { "\($0.name)=\($0.value)" } == ["B=1", "A=2", "b=3", "A=4"])
    #expect(headers.values(for: "B") == ["1", "3"])
    #expect(headers["a"] == "2, 4", "several lines are joined with commas (RFC 9110 §5.3)")
  }

  @Test(arguments: ["content-type", "CONTENT-TYPE", "cOnTeNt-TyPe"])
  func `compares names case-insensitively`(name: String) {
    let headers: HTTPHeaders = ["Content-Type": "a"]
    #expect(headers[HTTPHeaderName(name)] == "a")
    #expect(headers.contains(HTTPHeaderName(name)))
    #expect(HTTPHeaderName(name).hashValue == HTTPHeaderName.contentType.hashValue)
  }

  @Test func `distinguishes names that differ only in punctuation`() {
    #expect(
      HTTPHeaderName("X-A") != HTTPHeaderName("X\rA"),
      "'-' and CR differ only in the bit that distinguishes upper and lower case")
    #expect(HTTPHeaderName("[") != HTTPHeaderName("{"))
    #expect(
      HTTPHeaderName("\u{212B}") != HTTPHeaderName("A\u{30A}"),
      "Swift considers the strings equal, and they have the same length")
  }

  @Test func `setting a field replaces the first line and removes the others`() {
    var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
    headers["A"] = "new"
    #expect(headers.map(\.value) == ["new", "2", "4"])
    headers["A"] = nil
    #expect(headers.map(\.value) == ["2", "4"])
    headers["D"] = nil
    #expect(headers.count == 2)
  }

  @Test func `replacing headers removes the old lines of a name and keeps new duplicates`() {
    var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
    headers.replace(with: ["a": "x", "A": "y", "C": "z"])
    #expect(headers.map { "\($0.name)=\($0.value)" } == ["B=2", "a=x", "A=y", "C=z"])
    headers.replace(with: [:])
    #expect(headers.count == 4)
    var empty = HTTPHeaders()
    empty.replace(with: ["A": "1"])
    #expect(empty["A"] == "1")
  }

  @Test func `sets a default only if the field is missing`() {
    var headers: HTTPHeaders = ["A": "1"]
    headers.setDefault("2", for: "a")
    headers.setDefault("3", for: "B")
    #expect(headers.map(\.value) == ["1", "3"])
  }

  @Test(arguments: ["a\r\nInjected: b", "a\rb", "a\nb", "a\0b", "\r", "é\n"])
  func `a value with a line break or a NUL is invalid`(value: String) {
    let headers: HTTPHeaders = ["Good": "fine", "Bad": value]
    #expect(headers.firstInvalid?.name == "Bad")
  }

  @Test(arguments: ["", "a b", "a:b", "a\r\n", "ä", "a\tb", "(a)"])
  func `a name that is not a token is invalid`(name: String) {
    #expect(HTTPHeaders([.init(HTTPHeaderName(name), "x")]).firstInvalid?.name.rawName == name)
  }

  @Test(arguments: ["", "a\tb", "ü", "\"quoted\"", "a, b; c=d"])
  func `a value without line breaks or NUL is valid`(value: String) {
    #expect(HTTPHeaders([.init("X-Token_1.~!#$%&'*+^`|", value)]).firstInvalid == nil)
  }

  @Test func `the description hides credentials`() {
    let headers: HTTPHeaders = ["Authorization": "Bearer s3cret", "cookie": "s3cret", "A": "1"]
    #expect(headers.description == "Authorization: <redacted>\ncookie: <redacted>\nA: 1")
  }
}
