import Foundation
import Testing

@testable import Errand

/// Valid property lists, and property lists that would overflow a parser's stack or take too long to parse.
@Suite(.timeLimit(.minutes(2))) struct PropertyListDepthTests {
  private struct Shop: Codable, Equatable {
    var name = "Ä & <Co>"
    var opened = Date(timeIntervalSince1970: 1_000_000_000)
    var parts = [["a": 1, "b": 2], ["a": 3], [:]]
    var logo = Data((0..<300).map { UInt8($0 & 0xFF) })
    var ratings = (0..<1000).map { Double($0) / 7 }
    var hours: [String: [Int]?] = ["mon": [9, 17], "sun": []]
    var isOpen = true
  }

  private func decode<Value: Decodable & Sendable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try PayloadCoding.decode(
      type, from: data, mediaType: .propertyList, with: PropertyListDecoder(), redaction: .standard)
  }

  private func refusal(_ data: Data) -> String? {
    #expect(throws: DecodingError.self) { try PropertyListDepth.check(data) }.map { PayloadCoding.explain($0) }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `decodes ordinary property lists`(format: PropertyListSerialization.PropertyListFormat) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    #expect(try decode(Shop.self, encoder.encode(Shop())) == Shop())
    let many = Array(repeating: Array(repeating: "same", count: 300), count: 300)
    #expect(try decode([[String]].self, encoder.encode(many)) == many)
    let values = (0..<70_000).map { "\($0)" }  // three-byte references
    #expect(try decode([String].self, encoder.encode(values)) == values)
  }

  @Test func `accepts 512 levels and rejects 513`() throws {
    func list(_ levels: Int) -> Data {
      let (open, close) = (String(repeating: "<array>", count: levels), String(repeating: "</array>", count: levels))
      return Data("<plist version=\"1.0\">\(open)\(close)</plist>".utf8)
    }
    try PropertyListDepth.check(list(PropertyListDepth.limit))
    #expect(refusal(list(PropertyListDepth.limit + 1))?.contains("more than 512 levels") == true)
  }

  @Test func `does not count tags in comments, text and processing instructions as levels`() throws {
    let tags = String(repeating: "<array><dict>", count: 50)
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- \(tags) --><plist version="1.0"><array><!-- \(tags) --><string><![CDATA[\(tags)]]></string><?x \(tags)?>
      <array/><array /><true/></array></plist>
      """
    try PropertyListDepth.check(Data(text.utf8))
    let bare = "<plist version=\"1.0\"><array><string>a</string><string><![CDATA[<array>]]></string></array></plist>"
    #expect(try decode([String].self, Data(bare.utf8)) == ["a", "<array>"])
  }

  @Test(arguments: [
    "<plist>", "<array>", "<dict><key>a</key>", "<array><!--</array>-->",
    "<array><string><![CDATA[</array>]]></string>",
    "<array><?x </array>?>", "<array</array>", "<array a=\"/\">", "<dict><key/></key>", "<!DOCTYPE plist [<array>]>",
  ]) func `counts each level, regardless of the surrounding markup`(level: String) {
    let text = "<plist version=\"1.0\">" + String(repeating: level, count: 100_000)
    #expect(refusal(Data(text.utf8))?.contains("more than 512 levels") == true)
  }

  @Test(arguments: [
    "<plist><array><?>", "<!DOCTYPE plist <!-- ><plist>", "<!DOCTYPE <? ><plist>", "<plist><!-->",
    "<plist><array><!--->",
  ]) func `an ambiguous end of a comment or instruction does not hide levels`(start: String) {
    let text = start + String(repeating: "<array>", count: 100_000)
    #expect(refusal(Data(text.utf8))?.contains("more than 512 levels") == true)
  }

  @Test(arguments: ["<array</array", "<!-- <string", "</array", "<key>", "]]>"])
  func `scans unterminated markup only once`(sign: String) {
    let text = String(repeating: sign, count: 100_000)
    #expect(throws: Never.self) { try PropertyListDepth.check(Data(text.utf8)) }
    #expect(throws: TaskError.self) { try decode([Int].self, Data(text.utf8)) }
  }

  @Test func `rejects a binary property list whose declared values are missing`() throws {
    var bytes = Array("bplist00".utf8) + [0x09] + Array(repeating: 8, count: 10_000)
    bytes += [0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0, 0x27, 0x10, 0, 0, 0, 0, 0, 0, 0, 0]
    bytes += [0, 0, 0, 0, 0, 0, 0, 9]
    #expect(refusal(Data(bytes))?.contains("not a valid") == true)
  }

  @Test func `rejects an XML property list in an encoding that is not ASCII-compatible`() throws {
    let text = "<plist version=\"1.0\"><array/></plist>"
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32] {
      #expect(refusal(try #require(text.data(using: encoding)))?.contains("encoding") == true)
    }
    #expect(refusal(Data("<?xml version='1.0' encoding='UTF-7'?>\(text)".utf8))?.contains("encoding") == true)
    try PropertyListDepth.check(Data("<?xml version='1.0' encoding=\"utf-8\"?><!-- encoding='x' -->\(text)".utf8))
  }

  /// Returns a binary property list of arrays. Each array refers to its elements by index.
  private func binary(_ arrays: [[UInt8]], top: UInt8 = 0) -> Data {
    var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
    for array in arrays {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
      bytes += array.count < 15 ? [0xA0 | UInt8(array.count)] : [0xAF, 0x10, UInt8(array.count)]
      bytes += array
    }
    let table = UInt8(bytes.count >> 8), rest = UInt8(bytes.count & 0xFF)
    bytes += offsets
    bytes += [0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, UInt8(arrays.count), 0, 0, 0, 0, 0, 0, 0, top]
    return Data(bytes + [0, 0, 0, 0, 0, 0, table, rest])
  }

  @Test func `rejects a binary property list that contains itself or grows exponentially`() throws {
    #expect(try decode([[Int]].self, binary([[1, 2, 1], [], []])) == [[], [], []])
    #expect(refusal(binary([[0]]))?.contains("not a valid") == true)
    #expect(refusal(binary([[1], [2], [0]]))?.contains("not a valid") == true)
    #expect(refusal(binary([[9]]))?.contains("not a valid") == true)
    // Each of 20 arrays contains the next array ten times.
    let wide = (0..<20).map { Array(repeating: UInt8($0 + 1), count: 10) } + [[]]
    #expect(refusal(binary(wide))?.contains("values in") == true)
    #expect(throws: TaskError.self) { try decode(JSONValue.self, binary([[0]])) }
  }

  @Test func `rejects a binary property list that is nested too deeply`() throws {
    // `binary` writes one-byte references, which can't represent this depth.
    indirect enum Nest: Encodable {
      case none
      case list(Nest)
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if case .list(let inner) = self { try container.encode(inner) }
      }
    }
    func nest(_ depth: Int) throws -> Data {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      return try encoder.encode((1..<depth).reduce(Nest.none) { nest, _ in .list(nest) })
    }
    try PropertyListDepth.check(nest(500))
    #expect(refusal(try nest(520))?.contains("more than 512 levels") == true)
  }

  @Test func `a truncated or corrupted binary property list does not trap`() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let whole = try encoder.encode(["a": [1, 2, 3], "b": [["c": 4]].map { $0.count }])
    for count in 0..<whole.count { _ = try? PropertyListDepth.check(whole.prefix(count)) }
    for index in whole.indices {
      for byte in [0, 0x0F, 0x7F, 0xAF, 0xDF, 0xFF] as [UInt8] {
        var changed = whole
        changed[index] = byte
        _ = try? PropertyListDepth.check(changed)
      }
    }
  }
}
