import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Charsets of the WHATWG's Encoding Standard.
@Suite struct CharsetTests {
  @Test(
    arguments: [
      ("utf-8", [0xC3, 0xA9], "é"), ("US-ASCII", [0x41], "A"), ("ISO-8859-1", [0xE9, 0x80], "é\u{80}"),
      ("latin1", [0xFF], "ÿ"), ("iso-8859-15", [0xA4], "€"), ("windows-1252", [0x80, 0x9C], "€œ"),
      ("windows-1251", [0xCF, 0xF0, 0xE8], "При"), ("KOI8-R", [0xF0, 0xD2, 0xC9], "При"), ("iso-8859-7", [0xE1], "α"),
      ("macintosh", [0x8E], "é"), ("IBM866", [0x8F], "П"), ("windows-874", [0xA1], "ก"),
      ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("x-sjis", [0x87, 0x40], "①"),
      ("EUC-JP", [0xC6, 0xFC, 0xCB, 0xDC], "日本"),
      ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42, 0x41], "日本A"),
      ("gb2312", [0xD6, 0xD0, 0xCE, 0xC4], "中文"), ("GBK", [0x81, 0x40], "丂"),
      ("gb18030", [0x81, 0x30, 0x81, 0x30], "\u{80}"), ("Big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
      ("EUC-KR", [0xC7, 0xD1, 0xB1, 0xB9], "한국"), ("ks_c_5601-1987", [0x81, 0x41], "갂"),
      ("utf-16le", [0x3D, 0xD8, 0x00, 0xDE], "😀"), ("UTF-16BE", [0xD8, 0x3D, 0xDE, 0x00], "😀"),
      ("utf-16", [0xFE, 0xFF, 0x00, 0x41], "A"), ("utf-32be", [0, 1, 0xF6, 0], "😀"),
      // A character that another may change is kept back until the end.
      ("windows-1258", [0x61], "a"), ("windows-1258", [0x61, 0xCC], "à"), ("utf-8", [], ""), ("shift_jis", [], ""),
    ] as [(String, [UInt8], String)]) func `bytes are the text that they are in a charset`(
      label: String, bytes: [UInt8], text: String
    ) throws
  {
    let read = try Charset.text(of: Data(bytes), in: label)
    #expect(read == text && read.unicodeScalars.count == text.unicodeScalars.count)
  }

  @Test(arguments: [
    ("iso-8859-2", String.Encoding.isoLatin2), ("windows-1250", .windowsCP1250), ("windows-1253", .windowsCP1253),
    ("windows-1254", .windowsCP1254),
  ]) func `every byte is the character that Foundation knows`(label: String, encoding: String.Encoding) throws {
    var known = 0
    for byte in UInt8.min...UInt8.max {
      guard let expected = String(data: Data([byte]), encoding: encoding) else { continue }
      // Foundation takes gaps for controls.
      guard let read = try? Charset.text(of: Data([byte]), in: label) else { continue }
      #expect(read == expected, "\(byte)")
      known += 1
    }
    #expect(known > 230)
  }

  @Test func `a text that is longer than the room for a step comes whole`() throws {
    let text = String(repeating: "日本", count: 50_000)
    let bytes = Data((0..<50_000).flatMap { _ in [0x93, 0xFA, 0x96, 0x7B] as [UInt8] })
    #expect(try Charset.text(of: bytes, in: "shift_jis") == text)
  }

  @Test(
    arguments: [
      ("utf-8", [0x41, 0xFF], "the bytes are no UTF-8"),
      ("Shift_JIS", [0x41, 0x81], "the bytes from 1 on are no text in 'Shift_JIS'"),
      ("EUC-KR", [0x41, 0x42, 0xFF, 0xFF], "the bytes from 2 on are no text in 'EUC-KR'"),
      ("us-ascii", [0x80], "the bytes from 0 on are no text in 'us-ascii'"),
      ("utf-16le", [0x00], "the bytes from 0 on are no text in 'utf-16le'"),
      ("no-such", [0x41], "the charset 'no-such' is not known"), ("utf-7", [0x41], "the charset 'utf-7' is not known"),
      ("UTF-8//TRANSLIT", [0x41], "the charset 'UTF-8//TRANSLIT' is not known"),
    ] as [(String, [UInt8], String)]) func `what cannot be read is said in words`(
      label: String, bytes: [UInt8], words: String
    )
  {
    let problem = #expect(throws: Charset.Problem.self) { try Charset.text(of: Data(bytes), in: label) }
    #expect(problem?.words == words)
  }
}
