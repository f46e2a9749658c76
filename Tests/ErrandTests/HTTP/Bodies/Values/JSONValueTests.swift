import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct JSONValueTests {
  private func value(_ json: String) throws -> JSONValue { try JSONValue(json: json) }

  @Test(
    arguments: [
      ("null", nil), ("true", true), ("-7", -7), ("9223372036854775807", 9_223_372_036_854_775_807),
      ("18446744073709551615", .unsigned(.max)), ("1.5", 1.5), (#""é\u0000""#, "é\u{0}"), ("[]", []), ("{}", [:]),
      (#"{"a":[1,{"b":null}],"c":"1"}"#, ["a": [1, ["b": nil]], "c": "1"]), ("[[[\"x\"]],false]", [[["x"]], false]),
    ] as [(String, JSONValue)]) func `encodes and decodes every kind of value`(json: String, expected: JSONValue) throws
  {
    let read = try value(json)
    #expect(read == expected)
    #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(read)) == expected)
  }

  @Test func `integers keep all 64 bits`() throws {
    for text in ["9007199254740993", "-9223372036854775808", "9223372036854775808", "18446744073709551615"] {
      #expect(try value(text).description == text)
    }
    guard case .number = try value("18446744073709551616") else {
      return #expect(Bool(false), "an integer of more than 64 bits must be a .number")
    }
    #expect(throws: DecodingError.self) { try value("[1e400]") }
  }

  @Test func `numbers with the same value are equal in any notation`() throws {
    #expect(try value("1") == value("1.0") && value("1").hashValue == value("1.0").hashValue)
    #expect(JSONValue.unsigned(1) == 1 && Set<JSONValue>([1, 1.0, .unsigned(1)]).count == 1)
    #expect(JSONValue.number(1.5) != 1 && JSONValue.bool(true) != 1 && JSONValue.string("1") != 1)
  }

  @Test func `finds members only by key and elements only by index`() throws {
    let order = try value(#"{"lines":[{"id":7,"price":9.5,"sold":true,"none":null}],"total":2.0}"#)
    #expect(order["lines"]?[0]?["id"]?.int == 7 && order["lines"]?[0]?["price"]?.double == 9.5)
    #expect(order["lines"]?[0]?["sold"]?.bool == true && order["lines"]?[0]?["none"]?.isNull == true)
    #expect(order["total"]?.int == 2 && order["lines"]?.array?.count == 1 && order.object?.count == 2)
    #expect(order[0] == nil && order["lines"]?["id"] == nil && order["lines"]?[1] == nil && order["lines"]?[-1] == nil)
    #expect(order["total"]?.string == nil && JSONValue.number(0.5).int == nil && JSONValue.unsigned(.max).int == nil)
  }

  @Test func `sets members and existing elements`() {
    var order: JSONValue = ["lines": [1, 2]]
    order["lines"]?[1] = 3
    order["lines"]?[2] = 4
    order["note"] = "x"
    #expect(order == ["lines": [1, 3], "note": "x"])
    order["note"] = nil
    var nothing: JSONValue = nil
    nothing["a"] = nil
    #expect(order == ["lines": [1, 3]] && nothing.isNull)
    nothing["a"] = 1
    #expect(nothing == ["a": 1])
    #expect(["a": 1, "a": 2] as JSONValue == ["a": 2])
  }

  @Test func `is printed as JSON and can be decoded as another type`() throws {
    let widget: JSONValue = ["name": "a/b", "id": 7]
    #expect("\(widget)" == #"{"id":7,"name":"a/b"}"# && "\(JSONValue.number(.nan))" == #""nan""#)
    #expect(try widget.decoded(Widget.self) == Widget(id: 7, name: "a/b"))
    let error = #expect(throws: TaskError.self) { try JSONValue("x").decoded(Widget.self) }
    #expect(error?.code == .decodingFailed)
  }

  @Test func `works as an upload, as a download and as parameters`() async throws {
    let stub = StubServer(.json(#"{"data":{"id":18446744073709551615}}"#))
    let endpoint = Endpoint<JSONValue, JSONValue>.post("x", body: ["a": [1, nil, 2.5]])
    #expect(try await endpoint.on(stub.server).download()["data"]?["id"] == .unsigned(.max))
    #expect(stub.requests.first?.body.data == Data(#"{"a":[1,null,2.5]}"#.utf8))
    struct Find: ServerTask {
      let httpMethod: HTTPMethod
      let path = "x"
      let parameters: JSONValue = ["q": "a b", "page": 2, "none": nil, "tags": ["x", "y"]]
    }
    try await Find(httpMethod: .get).on(stub.server).run()
    #expect(stub.urls.last == "https://shop.test/x?page=2&q=a%20b&tags=x&tags=y")
    try await Find(httpMethod: .post).on(stub.server).encoder(FormEncoder()).run()
    #expect(stub.requests.last?.body.data == Data("page=2&q=a+b&tags=x&tags=y".utf8))
  }

  @Test func `parses a deeply nested value`() throws {
    let depth = 400
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    var inner: JSONValue? = try value(text)
    var count = 0
    while let next = inner {
      count += 1
      inner = next[0]
    }
    #expect(count == depth)
  }
}
