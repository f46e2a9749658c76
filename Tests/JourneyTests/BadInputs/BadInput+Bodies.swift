import Errand
import ErrandTesting
import Foundation

/// Bad payloads, multipart bodies, events and lines.
extension BadInput {
  private struct Tree: Decodable, Sendable { var next: [Tree] }
  private struct Day: Decodable, Sendable { var day: Date }
  private struct Deep: Decodable, Sendable {
    var shop: Inner; struct Inner: Decodable, Sendable { var widgets: [Widget] }
  }

  static let payloads: [BadInput] = [
    .payload("nothing", "", as: Widget.self, "empty"),
    .payload("a blank", " ", as: Widget.self, "Widget"),
    .payload("half an object", #"{"id":7,"na"#, as: Widget.self, "11 bytes"),
    .payload("an object that is not closed", #"{"id":7,"name":"a""#, as: Widget.self, "Widget"),
    .payload("more than an object", #"{"id":7,"name":"a"}}"#, as: Widget.self, "Widget"),
    .payload("another object", #"{"code":7}"#, as: Widget.self, "no key 'id'"),
    .payload("an object without a key", #"{"id":7}"#, as: Widget.self, "no key 'name'"),
    .payload("a list for an object", "[]", as: Widget.self, "Widget"),
    .payload("an object for a list", "{}", as: [Widget].self, "Array<Widget>"),
    .payload("null for an object", "null", as: Widget.self, "Widget"),
    .payload("null for a value", #"{"id":7,"name":null}"#, as: Widget.self, "at name"),
    .payload("a text for a number", #"{"id":"7","name":"a"}"#, as: Widget.self, "at id"),
    .payload("a fraction for a whole number", #"{"id":7.5,"name":"a"}"#, as: Widget.self, "Widget"),
    .payload("a number that is too large", #"{"id":99999999999999999999,"name":"a"}"#, as: Widget.self, "Widget"),
    .payload("a number without end", #"{"id":1e999,"name":"a"}"#, as: Widget.self, "Widget"),
    .payload("a number that is none", "-", as: Int.self, "Int"),
    .payload("a number with a zero before it", "007", as: Int.self, "Int"),
    .payload("a text in single quotes", "{'id':7}", as: Widget.self, "Widget"),
    .payload("a comment", "/* a */ {}", as: Widget.self, "Widget"),
    .payload("a line break in a text", "\"a\nb\"", as: [String].self, "Array<String>"),
    .payload("half an escape", #"["\u12"]"#, as: [String].self, "Array<String>"),
    .payload("half a pair of escapes", #"["\ud800"]"#, as: [String].self, "Array<String>"),
    .payload(
      "a place deep in it", #"{"shop":{"widgets":[{"id":7,"name":"a"},{"id":8}]}}"#, as: Deep.self, "shop.widgets.1"),
    .payload("a date that is none", #"{"day":"soon"}"#, as: Day.self, "at day"),
    .payload("lists in lists in lists", big(#"{"next":["#, 2000), as: Tree.self, "Tree"),
    .payload("a page", "<!DOCTYPE html><title>Sign in</title>", as: Widget.self, "<!DOCTYPE html>"),
    .payload("a property list that is none", "{\"a\":1}", as: Widget.self, by: PropertyListDecoder(), "Widget"),
    .payload(
      "half a property list", "<?xml version=\"1.0\"?><plist><dict>", as: Widget.self, by: PropertyListDecoder(),
      "Widget"),
    .payload("a decoder that throws", "{}", as: Widget.self, by: ThrowingDecoder(), "out of ink"),
    BadInput("bytes that are no UTF-8", .decodingFailed, "Widget") { world in
      let json = Data(#"{"id":7,"name":""#.utf8) + [0xFF, 0xFE] + Data("\"}".utf8)
      _ = try await GetWidget().on(world.answering(.data(json, type: .json)).shop.server).download()
    },
  ]

  private struct ThrowingDecoder: PayloadDecoder {
    func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload { throw OutOfInk() }
  }

  static let multiparts: [BadInput] = [
    parts("a body of one part", "hello", .badResponse, "text/plain", "not multipart", type: "text/plain"),
    parts("no boundary", "--b--", .badResponse, "boundary", type: "multipart/mixed"),
    parts("an empty boundary", "----", .badResponse, "boundary", type: "multipart/mixed; boundary=\"\""),
    parts(
      "a boundary of 71 characters", "", .badResponse, "boundary",
      type: MediaType("multipart/mixed; boundary=\(big("b", 71))")),
    parts("no delimiter", "hello", .truncatedBody, "last delimiter"),
    parts("nothing", "", .truncatedBody, "last delimiter"),
    parts("a header that is cut", "--b\r\nContent-Ty", .truncatedBody, "last delimiter"),
    parts("a part that is cut", "--b\r\n\r\nhello", .truncatedBody, "last delimiter"),
    parts("a last delimiter that is cut", "--b\r\n\r\nhello\r\n--b-", .truncatedBody, "last delimiter"),
    parts("another boundary", "--c\r\n\r\nhello\r\n--c--", .truncatedBody, "last delimiter"),
    parts("a header line without a colon", "--b\r\nno field\r\n\r\nhello\r\n--b--", .badResponse, "no colon"),
    parts("a name with a blank", "--b\r\nA b: c\r\n\r\n\r\n--b--", .badResponse, "name"),
    parts("a folded line first", "--b\r\n a: b\r\n\r\n\r\n--b--", .badResponse, "folded"),
    parts("a CR in a field", "--b\r\na: b\rc\r\n\r\n\r\n--b--", .badResponse, "CR"),
    parts("a NUL in a field", "--b\r\na: b\0c\r\n\r\n\r\n--b--", .badResponse, "NUL"),
    parts("a header of 20 KiB", "--b\r\n\(big("a: b\r\n", 4000))\r\n\r\n--b--", .badResponse, "16384 bytes"),
    parts("parts without number", big("--b\r\n\r\n\r\n", 10_001), .badResponse, "10000 parts"),
  ]

  private static func parts(
    _ name: String, _ text: String, _ code: TaskError.Code, _ words: String...,
    type: MediaType = "multipart/mixed; boundary=b"
  ) -> BadInput {
    BadInput("multipart with \(name)", code, words: words) { world in
      let world = world.answering(.data(Data(text.utf8), type: type))
      for try await part in try await PlainTask().on(world.shop.server).stream().parts() {
        _ = try await part.body.collect()
      }
    }
  }

  static let streams: [BadInput] = [
    events(
      "a page", .data(Data("<html>".utf8), type: "text/html"), .badResponse, "expected an event stream", "text/html"),
    events("JSON", .json("{}"), .badResponse, "expected an event stream", "application/json"),
    events(
      "no type", .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)), .badResponse,
      "a response without Content-Type"),
    events("an error", .status(500, body: "no"), .badStatus, "500"),
    events("nobody there", .status(404), .badStatus, "404"),
    events(
      "data that are none of theirs", .data(Data("data: x\n\n".utf8), type: "text/event-stream"), .decodingFailed, "Int"
    ),
    events(
      "chunks that are none", .raw(Data("\(eventHead)zz\r\n".utf8)), .badResponse),
    lines("a line that is no JSON", "1\n2\nthree\n", .decodingFailed, "Int"),
    lines("half a line", "1\n[2", .decodingFailed, "Int"),
    lines("a text among numbers", "1\n\"2\"\n", .decodingFailed, "Int"),
    lines("null among numbers", "1\nnull\n", .decodingFailed, "Int"),
    BadInput("pages that lead elsewhere", .badResponse, "another origin", "evil.test") {
      try await pages($0, "<https://evil.test/>; rel=next")
    },
    BadInput("pages that lead to themselves", .badResponse, "pagination loop") {
      try await pages($0, "</pages>; rel=next")
    },
  ]

  private static let eventHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

  private static func events(
    _ name: String, _ answer: MockAnswer, _ code: TaskError.Code, _ words: String...
  ) -> BadInput {
    BadInput("events, and \(name)", code, words: words) { world in
      for try await _ in PlainTask().on(world.answering(answer).shop.server).events(of: Int.self) {}
    }
  }

  private static func lines(_ name: String, _ text: String, _ code: TaskError.Code, _ words: String...) -> BadInput {
    BadInput("lines, and \(name)", code, words: words) { world in
      let world = world.answering(.data(Data(text.utf8), type: "application/jsonl"))
      for try await _ in try await PlainTask().on(world.shop.server).stream().body.jsonLines(of: Int.self) {}
    }
  }

  private static func pages(_ world: World, _ link: String) async throws {
    let world = world.answering(MockAnswer.json("[]").header(.link, link))
    for try await _ in Endpoint<Void, [Int]>.get("pages").on(world.shop.server).pages() {}
  }
}

/// Thrown by an app's own encoder or decoder.
struct OutOfInk: Error, CustomStringConvertible {
  var description: String { "out of ink" }
}
