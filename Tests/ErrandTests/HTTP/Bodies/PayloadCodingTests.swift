import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PayloadCodingTests {
  private func download<Payload: Decodable & Sendable>(
    _ type: Payload.Type = Payload.self, _ body: Data, _ mediaType: MediaType = .json
  ) async throws -> Payload {
    let defaults = EndpointDefaults(server: StubServer(.data(body, mediaType)).server)
    return try await Endpoint<Void, Payload>.get("x", defaults: defaults).download()
  }

  @Test func `decodes Data and String from the raw body, not from JSON`() async throws {
    let json = Data(#""aGk=""#.utf8)
    #expect(try await download(Data.self, json) == json)
    #expect(try await download(String.self, json) == #""aGk=""#)
    #expect(try await download(Data.self, Data()) == Data())
    #expect(try await download(String.self, Data()) == "")
  }

  @Test func `decodes optional Data and String from the raw body, and nil from an empty body`() async throws {
    #expect(try await download(Data?.self, Data([1])) == Data([1]))
    #expect(try await download(Data?.self, Data()) == nil)
    #expect(try await download(String?.self, Data("hello".utf8), .plainText) == "hello")
    #expect(try await download(String?.self, Data()) == nil)
  }

  @Test func `an empty body is nil for an optional payload and throws for other payloads`() async throws {
    #expect(try await download(Widget?.self, Data()) == nil)
    #expect(try await download(Widget?.self, Data("null".utf8)) == nil)
    #expect(try await download(Widget?.self, Data(#"{"id":1,"name":"a"}"#.utf8))?.id == 1)
    await #expect(throws: TaskError.self, "an empty body is not a JSON null") {
      try await download(JSONValue.self, Data())
    }
    #expect(try await download(JSONValue?.self, Data()) == nil)
    let error = await #expect(throws: TaskError.self) { try await download(Widget.self, Data()) }
    #expect(error?.code == .decodingFailed)
    #expect(
      error?.description.hasSuffix(
        "can't decode Widget from 0 bytes of application/json: the body is empty, but the payload is not optional"
      )
        == true)
  }

  @Test(
    arguments: [
      ("text/plain; charset=iso-8859-1", [0x63, 0xE9], "cé"), ("text/plain;charset=\"UTF-8\"", [0xC3, 0xA9], "é"),
      ("text/plain", [0xC3, 0xA9], "é"), ("text/plain; charset=windows-1252", [0x80], "€"),
      ("text/plain; charset=utf-16le", [0x41, 0x00], "A"), ("text/plain; charset=shift_jis", [0x93, 0xFA], "日"),
      ("text/plain", [0x41, 0xFF], "A\u{FFFD}"), ("text/plain; charset=\"\"", [0x41], "A"),
    ] as [(String, [UInt8], String)])
  func `decodes text in the declared charset`(type: String, bytes: [UInt8], text: String) async throws {
    #expect(try await download(String.self, Data(bytes), MediaType(type)) == text)
  }

  @Test(
    arguments: [
      ("no-such", [0x41], "the charset 'no-such' is unknown"),
      ("utf-8", [0x41, 0xFF], "the bytes are not valid UTF-8"),
      ("euc-kr", [0x41, 0xFF], "the bytes from offset 1 are not valid in the charset 'euc-kr'"),
    ] as [(String, [UInt8], String)])
  func `throws if text is invalid in its declared charset`(
    charset: String, bytes: [UInt8], words: String
  ) async throws {
    let type = MediaType("text/plain; charset=\(charset)")
    let error = await #expect(throws: TaskError.self) { try await download(String.self, Data(bytes), type) }
    #expect(error?.code == .decodingFailed)
    #expect(error?.reason == "can't decode String from \(bytes.count) bytes of text/plain: \(words)")
    await #expect(throws: TaskError.self) { try await download(String?.self, Data(bytes), type) }
    // `text` never throws. It contains everything that can be decoded.
    let stub = StubServer(.data(Data(bytes), type))
    let shown = try await Endpoint<Void, Data>.get("x").on(stub.server).response().text
    #expect(shown == (bytes.count == 1 ? "A" : "A\u{FFFD}"))
  }

  @Test
  func `decodes a response by its media type, unless the task has a decoder`()
    async throws
  {
    let list = try PropertyListEncoder().encode(Widget())
    let stub = StubServer(.data(list, "Application/X-Plist; charset=utf-8"), .widget, .data(list, .propertyList))
    await stub.server.update { $0.decoders = [.propertyList: PropertyListDecoder()] }
    #expect(try await GetWidget().on(stub.server).download() == Widget())
    #expect(try await GetWidget().on(stub.server).download() == Widget())
    await #expect(throws: TaskError.self) {
      try await GetWidget().decoder(JSONDecoder()).on(stub.server).download()
    }
  }

  @Test func `a decoding error names the path of the mismatch`() async {
    struct Order: Decodable, Sendable { let lines: [Line] }
    struct Line: Decodable, Sendable { let price: Double }
    for (body, place) in [
      (#"{"lines":[{"price":1},{"price":"x"}]}"#, "at lines.1.price: "),
      (#"{"lines":[{}]}"#, "at lines.0: no key 'price'"),
      ("{}", "no key 'lines'"), (#"{"lines":null}"#, "at lines"), ("<html>", ""),
    ] {
      let error = await #expect(throws: TaskError.self) { try await download(Order.self, Data(body.utf8)) }
      #expect(error?.code == .decodingFailed)
      let start = "can't decode Order from \(body.utf8.count) bytes of application/json: \(place)"
      #expect(error?.reason.hasPrefix(start) == true, "\(error?.reason ?? "")")
      #expect(error?.status == 200 && error?.bodyText == body)
      #expect(error?.underlying is DecodingError)
    }
  }

  @Test func `an encoding error names the path of the invalid value and prevents the request`() async {
    struct Bad: ServerPOSTTask, PayloadUploadingTask {
      var uploadPayload: [String: [Double]] { ["a": [1, .nan]] }
    }
    let stub = StubServer(.status(.ok))
    let error = await #expect(throws: TaskError.self) { try await Bad().on(stub.server).run() }
    #expect(error?.code == .encodingFailed)
    #expect(error?.reason.contains("a.1") == true, "\(error?.reason ?? "")")
    #expect(stub.requests.isEmpty)
  }

  @Test func `uploads Data and String unchanged`() async throws {
    let text = Endpoint<String, Void>.post("x", body: #""quoted""#)
    try await expectTask(
      text,
      sends: ExpectedRequest(
        .post, "/x", headers: [.contentType: "text/plain; charset=utf-8"], body: .text(#""quoted""#)))
    let data = Endpoint<Data, Void>.post("x", body: Data([1]))
    try await expectTask(
      data,
      sends: ExpectedRequest(.post, "/x", headers: [.contentType: "application/octet-stream"], body: .data(Data([1]))))
  }

  @Test func `decodes with a decoder set by a modifier or by the server`() async throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    struct Snake: Decodable, Sendable { let firstName: String }
    struct GetSnake: ServerGETTask, PayloadDownloadingTask { typealias DownloadPayload = Snake }
    let stub = StubServer(.json(#"{"first_name":"a"}"#))
    #expect(try await GetSnake().decoder(decoder).on(stub.server).download().firstName == "a")
    await #expect(throws: TaskError.self) { try await GetSnake().on(stub.server).download() }
    await stub.server.update { $0.defaultDecoder = decoder }
    #expect(try await GetSnake().on(stub.server).download().firstName == "a")
  }

  @Test func `the error for an oversized body names maximumBodySize`() async {
    let stub = StubServer(.data(Data(count: 11), .octetStream)) { $0.maximumBodySize = 10 }
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).downloadData() }
    #expect(error?.code == .bodyTooLarge)
    #expect(error?.description.contains("maximumBodySize") == true)
  }

  @Test func `a decoding error describes type mismatches in JSON terms`() async {
    let list = await #expect(throws: TaskError.self) { try await download(Widget.self, Data("[1]".utf8)) }
    #expect(list?.reason.contains("Expected to decode an object but found an array instead.") == true)
    let object = await #expect(throws: TaskError.self) { try await download([Widget].self, Data("{}".utf8)) }
    #expect(object?.reason.contains("Expected to decode an array but found an object instead.") == true)
  }

  @Test func `a decoding error quotes the redacted beginning of an unexpected page`() async {
    let page = "<html>\r\n <body>\u{1B}[31mtoken=s3cret " + String(repeating: "é", count: 300) + "</body></html>"
    let error = await #expect(throws: TaskError.self) {
      try await download(Widget.self, Data(page.utf8), "text/html; charset=utf-8")
    }
    let expected = "<html> <body> [31mtoken=<redacted> " + String(repeating: "é", count: 65) + "…"
    #expect(
      error?.reason
        == "can't decode Widget from \(page.utf8.count) bytes of text/html: it is an HTML page that begins with: \(expected)"
    )
    let broken = await #expect(throws: TaskError.self) { try await download(Widget.self, Data("sorry".utf8)) }
    #expect(broken?.reason.hasSuffix(" It begins with: sorry") == true, "\(broken?.reason ?? "")")
    let bytes = await #expect(throws: TaskError.self) {
      try await download(Widget.self, Data([0xFF, 0xFE]), "image/png")
    }
    #expect(bytes?.reason.contains("from 2 bytes of image/png: ") == true && bytes?.reason.contains("begins") == false)
  }

  @Test func `a decoding error does not quote a hidden body`() async {
    let stub = StubServer(.data(Data("<html>hidden</html>".utf8), "text/html"))
    let task = GetWidget().on(stub.server).recording([.url, .headers])
    let error = await #expect(throws: TaskError.self) { try await task.download() }
    #expect(error?.description.contains("text/html") == true && error?.description.contains("hidden") == false)
  }

  @Test func `a property list of any depth decodes or throws, without a stack overflow`() throws {
    indirect enum Nest: Decodable, Equatable {
      case list([Nest])
      init(from decoder: any Decoder) throws { self = .list(try decoder.singleValueContainer().decode([Nest].self)) }
    }
    func list(_ depth: Int) -> Data {
      Data(
        ("<plist version=\"1.0\">" + String(repeating: "<array>", count: depth)
          + String(repeating: "</array>", count: depth) + "</plist>").utf8)
    }
    _ = try PayloadCoding.decode(
      Nest.self, from: list(100), mediaType: .propertyList, with: PropertyListDecoder(), redaction: nil)
    let error = #expect(throws: TaskError.self) {
      try PayloadCoding.decode(
        Nest.self, from: list(20_000), mediaType: .propertyList, with: PropertyListDecoder(), redaction: nil)
    }
    #expect(error?.code == .decodingFailed)
  }
}
