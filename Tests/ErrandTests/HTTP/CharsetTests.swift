import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Charsets in the WHATWG Encoding Standard.
@Suite(.timeLimit(.minutes(1))) struct CharsetTests {
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
      // The decoder holds back a character that the next byte can change.
      ("windows-1258", [0x61], "a"), ("windows-1258", [0x61, 0xCC], "à"), ("utf-8", [], ""), ("shift_jis", [], ""),
    ] as [(String, [UInt8], String)]) func `decodes bytes in a charset`(
      label: String, bytes: [UInt8], text: String
    ) throws
  {
    let read = try Charset.text(of: Data(bytes), in: label)
    #expect(read == text && read.unicodeScalars.count == text.unicodeScalars.count)
  }

  @Test(arguments: [
    ("iso-8859-2", String.Encoding.isoLatin2), ("windows-1250", .windowsCP1250), ("windows-1253", .windowsCP1253),
    ("windows-1254", .windowsCP1254),
  ]) func `decodes single bytes as Foundation does`(label: String, encoding: String.Encoding) throws {
    var known = 0
    for byte in UInt8.min...UInt8.max {
      guard let expected = String(data: Data([byte]), encoding: encoding) else { continue }
      // Foundation decodes unassigned bytes as control characters.
      guard let read = try? Charset.text(of: Data([byte]), in: label) else { continue }
      #expect(read == expected, "\(byte)")
      known += 1
    }
    #expect(known > 230)
  }

  /// The labels in the Encoding Standard, except those of UTF-16, `replacement` and `x-user-defined`.
  static let labels = """
    unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
    866 cp866 csibm866 ibm866
    csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
    csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
    csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
    csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
    arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127
    iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
    csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987
    sun_eu_greek
    csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988
    visual csiso88598i iso-8859-8-i logical
    csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
    iso-8859-13 iso8859-13 iso885913 iso-8859-14 iso8859-14 iso885914
    csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
    iso-8859-16
    cskoi8r koi koi8 koi8-r koi8_r koi8-ru koi8-u
    csmacintosh mac macintosh x-mac-roman
    dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
    cp1250 windows-1250 x-cp1250 cp1251 windows-1251 x-cp1251 cp1253 windows-1253 x-cp1253
    ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1
    iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
    cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254
    cp1255 windows-1255 x-cp1255 cp1256 windows-1256 x-cp1256 cp1257 windows-1257 x-cp1257 cp1258 windows-1258 x-cp1258
    x-mac-cyrillic x-mac-ukrainian
    chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030
    big5 big5-hkscs cn-big5 csbig5 x-x-big5
    cseucpkdfmtjapanese euc-jp x-euc-jp csiso2022jp iso-2022-jp
    csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
    cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
    """

  @Test func `recognizes every label in the Encoding Standard`() throws {
    // Decodes bytes. Returns `nil` if the label is unknown.
    func read(_ bytes: [UInt8], _ label: String) -> String? { try? Charset.text(of: Data(bytes), in: label) }
    let labels = Self.labels.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(labels.count > 190)
    for label in labels { #expect(read([0x41], label) == "A", "\(label)") }
    for label in "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le".split(separator: " ") {
      #expect(read([0x41, 0], String(label)) == "A", "\(label)")
    }
    #expect(try Charset.text(of: Data([0, 0x41]), in: "unicodefffe") == "A")
  }

  @Test(
    arguments: [
      ("latin3", [0xA1], "Ħ"), ("greek", [0xE1], "α"), ("ibm819", [0xE9], "é"), ("iso-8859-8-i", [0xE0], "א"),
      ("cyrillic", [0xB0], "А"), ("arabic", [0xC7], "ا"), ("latin6", [0xA2], "Ē"), ("csisolatin5", [0xFD], "ı"),
      ("unicode", [0xAC, 0x20], "€"), ("utf-16", [0xFF, 0xFE, 0xAC, 0x20], "€"),
    ] as [(String, [UInt8], String)])
  func `decodes text using any label of its charset`(label: String, bytes: [UInt8], text: String) throws {
    #expect(try Charset.text(of: Data(bytes), in: label) == text)
  }

  @Test func `decodes text that is longer than the conversion buffer`() throws {
    let text = String(repeating: "日本", count: 50_000)
    let bytes = Data((0..<50_000).flatMap { _ in [0x93, 0xFA, 0x96, 0x7B] as [UInt8] })
    #expect(try Charset.text(of: bytes, in: "shift_jis") == text)
  }

  @Test(
    arguments: [
      ("utf-8", [0x41, 0xFF], "the bytes are not valid UTF-8"),
      ("Shift_JIS", [0x41, 0x81], "the bytes from offset 1 are not valid in the charset 'Shift_JIS'"),
      ("EUC-KR", [0x41, 0x42, 0xFF, 0xFF], "the bytes from offset 2 are not valid in the charset 'EUC-KR'"),
      ("us-ascii", [0x80], "the bytes from offset 0 are not valid in the charset 'us-ascii'"),
      ("utf-16le", [0x00], "the bytes from offset 0 are not valid in the charset 'utf-16le'"),
      ("no-such", [0x41], "the charset 'no-such' is unknown"), ("utf-7", [0x41], "the charset 'utf-7' is unknown"),
      ("UTF-8//TRANSLIT", [0x41], "the charset 'UTF-8//TRANSLIT' is unknown"),
    ] as [(String, [UInt8], String)]) func `explains why bytes cannot be decoded`(
      label: String, bytes: [UInt8], words: String
    )
  {
    let problem = #expect(throws: Charset.Problem.self) { try Charset.text(of: Data(bytes), in: label) }
    #expect(problem?.words == words)
  }
}
