import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct FormEncoderTests {
  private struct Address: Encodable {
    var city = "Ulm"
    var codes = [1, 2]
  }

  private struct Person: Encodable {
    var name = "Ada"
    var address = Address()
    var tags = ["a", "b"]
    var isNew = true
    var since = Date(timeIntervalSince1970: 86_400.5)
    var middle: String?
    var score = 1.0
    var ratio: Float = 0.5
    var data = Data([1, 2, 3])
    var site = URL.known("https://a.test/?b=c")
    var price = Decimal(string: "9.90")
    var big = UInt64.max
    var more = ["z": 1, "a": 2]
    var people = [["x": "1"], ["x": "2"]]
  }

  private func text(_ value: some Encodable, _ style: FormStyle = FormStyle()) throws -> String {
    String(decoding: try FormEncoder(style).encode(value), as: UTF8.self)
  }

  @Test func `writes properties in order, puts nested properties in brackets, and omits nil`() throws {
    let fields = try HTTPQuery(encoding: Person())
    #expect(
      fields.items.map { "\($0.name)=\($0.value ?? "nil")" } == [
        "name=Ada", "address[city]=Ulm", "address[codes]=1", "address[codes]=2", "tags=a", "tags=b", "isNew=true",
        "since=1970-01-02T00:00:00Z", "score=1", "ratio=0.5", "data=AQID", "site=https://a.test/?b=c", "price=9.9",
        "big=18446744073709551615", "more[a]=2", "more[z]=1", "people[0][x]=1", "people[1][x]=2",
      ])
  }

  @Test(arguments: [
    (FormStyle(nesting: .dots), "address.city=Ulm&address.codes=1&address.codes=2"),
    (FormStyle(lists: .brackets), "address%5Bcity%5D=Ulm&address%5Bcodes%5D%5B%5D=1&address%5Bcodes%5D%5B%5D=2"),
    (FormStyle(nesting: .dots, lists: .indices), "address.city=Ulm&address.codes%5B0%5D=1&address.codes%5B1%5D=2"),
    (FormStyle(nesting: .dots, lists: .commas), "address.city=Ulm&address.codes=1%2C2"),
  ]) func `encodes nested values and lists in the given style`(style: FormStyle, form: String) throws {
    #expect(try text(["address": Address()], style) == form)
  }

  @Test func `encodes dates and Booleans in the given style`() throws {
    struct Value: Encodable {
      let at = Date(timeIntervalSince1970: 1.5)
      let flag = false
    }
    #expect(try text(Value(), FormStyle(dates: .secondsSince1970, booleans: .digits)) == "at=1.5&flag=0")
    #expect(try text(Value(), FormStyle(dates: .millisecondsSince1970)) == "at=1500&flag=false")
    #expect(
      try text(Value(), FormStyle(dates: .httpDate)) == "at=Thu%2C+01+Jan+1970+00%3A00%3A01+GMT&flag=false")
  }

  // URL Standard §5.2 and §1.3: the application/x-www-form-urlencoded percent-encode set.
  @Test(arguments: [
    (" ", "+"), ("+", "%2B"), ("*-._", "*-._"), ("~", "%7E"), ("!'()", "%21%27%28%29"), ("&=", "%26%3D"),
    ("é", "%C3%A9"),
    ("\r\n", "%0D%0A"), ("%41", "%2541"), ("aZ09", "aZ09"), ("🧵", "%F0%9F%A7%B5"),
  ]) func `escapes bytes as the URL Standard specifies`(plain: String, escaped: String) throws {
    #expect(try text([plain: plain]) == "\(escaped)=\(escaped)")
  }

  private struct Other: Encodable {
    func encode(to encoder: any Encoder) throws {
      var table = encoder.container(keyedBy: Key.self)
      try table.encodeNil(forKey: "nil")
      var inner = table.nestedContainer(keyedBy: Key.self, forKey: "inner")
      try inner.encode(1, forKey: "one")
      var list = table.nestedUnkeyedContainer(forKey: "list")
      try list.encode("a")
      try list.encodeNil()
      var pair = list.nestedContainer(keyedBy: Key.self)
      try pair.encode(2, forKey: "two")
      var deep = list.nestedUnkeyedContainer()
      try deep.encode(3)
      try ["super": 4].encode(to: table.superEncoder(forKey: "up"))
    }

    struct Key: CodingKey, ExpressibleByStringLiteral {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringLiteral value: String) { stringValue = value }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
  }

  @Test func `encodes a value with a custom encode function`() throws {
    let names = FormStyle(nesting: .dots, lists: .indices)
    #expect(
      try HTTPQuery(encoding: Other(), names).encoded.removingPercentEncoding
        == "inner.one=1&list[0]=a&list[2].two=2&list[3][0]=3&up.super=4")
  }

  @Test(arguments: [1, "a", [1], ["a": Double.nan], ["a": Double.infinity]] as [any Encodable & Sendable])
  func `throws an encoding error for a value that a form can't represent`(value: any Encodable & Sendable) {
    #expect(throws: EncodingError.self) { try FormEncoder().encode(value) }
  }

  private struct SignIn: ServerPOSTTask, FormUploadingTask { let uploadPayload = ["user": "Ada L", "pass": "a+b"] }

  @Test func `a form task sends a form`() async throws {
    try await expectTask(
      SignIn(),
      sends: ExpectedRequest(
        .post, "/", headers: ["Accept": "*/*", "Content-Type": "application/x-www-form-urlencoded"],
        body: .text("pass=a%2Bb&user=Ada+L")))
  }

  @Test func `a form can be built from fields`() {
    #expect(HTTPBody.form(["b": "1 2", "a": nil]).mediaType == .form)
    #expect(HTTPBody.form(["b": "1 2", "a": nil, "c": ""]).data == Data("b=1+2&c=".utf8))
  }

  private enum Color: String, Codable { case red, green }
  private enum Named: String, Codable, CodingKeyRepresentable { case red, green }

  @Test func `writes a set in sorted order`() throws {
    let set = Set((0..<40).map { "s\($0)" })
    #expect(try HTTPQuery(encoding: ["s": set]).items.map(\.value) == set.sorted())
    #expect(try text(["s": Set([2, 10, 1])], FormStyle(lists: .indices)) == "s%5B0%5D=1&s%5B1%5D=10&s%5B2%5D=2")
    #expect(try text(["s": Set(["b", "a"])], FormStyle(lists: .commas)) == "s=a%2Cb")
  }

  @Test func `rejects a dictionary with non-string keys because its order is not stable`() throws {
    #expect(throws: EncodingError.self) { try text(["v": [Color.red: 1, .green: 2]]) }
    #expect(try text(["v": [Named.red: 1, .green: 2]]) == "v%5Bgreen%5D=2&v%5Bred%5D=1")
    #expect(try text([2: "b", 1: "a"]) == "1=a&2=b")
  }

  @Test(arguments: [FormStyle(), FormStyle(dates: .secondsSince1970), FormStyle(dates: .millisecondsSince1970)])
  func `rejects an invalid number and an invalid date`(style: FormStyle) throws {
    for seconds in [Double.nan, .infinity, -.infinity, 1e300, 253_402_300_800] {
      #expect(throws: EncodingError.self) { try text(["d": Date(timeIntervalSince1970: seconds)], style) }
    }
    #expect(throws: EncodingError.self) { try text(["d": Decimal.nan], style) }
    #expect(throws: EncodingError.self) { try text(["d": Double.nan], style) }
  }

  @Test func `writes a date in a header as an HTTP date`() throws {
    // The example in RFC 9110 §5.6.7.
    let date = Date(timeIntervalSince1970: 784_111_777)
    let headers = try HTTPHeaders(encoding: ["If-Modified-Since": date])
    #expect(headers.fields == [.init(.ifModifiedSince, "Sun, 06 Nov 1994 08:49:37 GMT")])
    let several = try HTTPHeaders(encoding: ["X-At": [date, date.addingTimeInterval(0.9)]])
    #expect(several.values(for: "X-At") == Array(repeating: "Sun, 06 Nov 1994 08:49:37 GMT", count: 2))
  }

  @Test func `rejects a duration because it would be encoded as two numbers`() {
    #expect(throws: EncodingError.self) { try HTTPQuery(encoding: ["wait": Duration.seconds(5)]) }
    #expect(throws: EncodingError.self) { try HTTPHeaders(encoding: ["Prefer": Duration.seconds(5)]) }
  }

  @Test func `rejects a string as a form`() async throws {
    struct Login: FormUploadingTask { let uploadPayload = "a=b&c d" }
    let stub = StubServer()
    let error = await #expect(throws: TaskError.self) { try await Login().on(stub.server).upload() }
    #expect(error?.code == .encodingFailed && stub.requests.isEmpty)
  }
}
