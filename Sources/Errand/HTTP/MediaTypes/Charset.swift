import ErrandFoundation

/// The supported character encodings (RFC 9110 §8.3.2): all encodings in the WHATWG Encoding Standard except
/// `replacement` and `x-user-defined`. Other names are not passed to the C library, because that would let a peer
/// choose which code it loads.
enum Charset {
  struct Problem: Error {
    let words: String
  }

  /// Decodes data in the charset with a label such as `iso-8859-1`. Whitespace and quotes around the label are ignored.
  ///
  /// - Throws: ``Problem`` if the charset is unknown or isn't supported by the system, or if the bytes are invalid in
  ///   it.
  static func text(of data: Data, in label: String) throws(Problem) -> String {
    let shown = label.shortened
    guard let name = names[label[...].trimming(isDecoration).lowercased()] else {
      throw Problem(words: "the charset '\(shown)' is unknown")
    }
    if name == "UTF-8" {
      guard let text = String(data: data, encoding: .utf8) else {
        throw Problem(words: "the bytes are not valid UTF-8")
      }
      return text
    }
    return try converted(data, from: name, shown)
  }

  #if canImport(Darwin)
    private static func converted(_ data: Data, from name: String, _ label: String) throws(Problem) -> String {
      // Core Foundation doesn't know every label, but it knows at least one for each charset.
      let encodings = [label, name].map { CFStringConvertIANACharSetNameToEncoding($0 as CFString) }
      guard let encoding = encodings.first(where: { $0 != kCFStringEncodingInvalidId }) else {
        throw Problem(words: "this machine does not support the charset '\(label)'")
      }
      let converted = String(
        data: data, encoding: String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding)))
      guard let converted else { throw Problem(words: "the bytes are not valid in the charset '\(label)'") }
      return converted
    }
  #else
    private static func converted(_ data: Data, from name: String, _ label: String) throws(Problem) -> String {
      let converter = iconv_open("UTF-8", name)
      guard let converter, converter != iconv_t(bitPattern: -1) else {
        throw Problem(words: "this machine's C library does not support the charset '\(label)'")
      }
      defer { iconv_close(converter) }
      var input = [UInt8](data)
      var text: [UInt8] = []
      text.reserveCapacity(input.count + input.count / 2)
      guard let failure = run(converter, &input, into: &text) else { return String(decoding: text, as: UTF8.self) }
      throw Problem(words: "the bytes from offset \(failure) are not valid in the charset '\(label)'")
    }

    /// Converts all of `input`. Returns the offset of the first invalid byte, or `nil` if all bytes are valid.
    private static func run(_ converter: iconv_t, _ input: inout [UInt8], into text: inout [UInt8]) -> Int? {
      var room = [UInt8](repeating: 0, count: 32 << 10)
      return input.withUnsafeMutableBytes { input in
        room.withUnsafeMutableBytes { room in
          var next = input.bindMemory(to: CChar.self).baseAddress
          var left = input.count
          var isFlushing = left == 0
          while true {
            var free = room.bindMemory(to: CChar.self).baseAddress
            var freeCount = room.count
            // In some charsets, iconv holds back the last character, because the next one can change it.
            let code =
              isFlushing
              ? iconv(converter, nil, nil, &free, &freeCount) : iconv(converter, &next, &left, &free, &freeCount)
            let isFull = code == -1 && errno == E2BIG
            text.append(contentsOf: room.prefix(room.count - freeCount))
            if isFull, freeCount < room.count { continue }
            if code == -1 { return input.count - left }
            if isFlushing { return nil }
            isFlushing = true
          }
        }
      }
    }
  #endif

  /// Whether a byte is ignored at either end of a label. Some servers send `charset='utf-8'`. In `charset= "utf-8"`,
  /// the space and quotes belong to the label (MIME Sniffing §4.4).
  private static func isDecoration(_ byte: UInt8) -> Bool {
    FieldScanner.isHTTPSpace(byte) || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")
  }

  /// The C library's names, keyed by lowercase Encoding Standard label.
  private static let names: [String: String] = {
    var names: [String: String] = [:]
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      for label in words { names[label[...].trimming(isDecoration).lowercased()] = words.first }
    }
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16] {
      for label in ["iso-8859-\(number)", "iso8859-\(number)", "iso_8859-\(number)", "iso8859\(number)"] {
        names[label] = "ISO-8859-\(number)"
      }
    }
    for number in 1250...1258 {
      for label in ["windows-\(number)", "cp\(number)", "x-cp\(number)"] { names[label] = "CP\(number)" }
    }
    return names
  }()

  /// Each line contains a name used by the C library, followed by its other labels.
  private static let table = """
    UTF-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8
    US-ASCII ascii ansi_x3.4-1968
    ISO-8859-1 latin1 l1 cp819 ibm819 csisolatin1 iso-ir-100 iso_8859-1:1987
    ISO-8859-2 latin2 l2 csisolatin2 iso-ir-101 iso_8859-2:1987
    ISO-8859-3 latin3 l3 csisolatin3 iso-ir-109 iso_8859-3:1988
    ISO-8859-4 latin4 l4 csisolatin4 iso-ir-110 iso_8859-4:1988
    ISO-8859-5 cyrillic csisolatincyrillic iso-ir-144 iso_8859-5:1988
    ISO-8859-6 arabic asmo-708 ecma-114 csisolatinarabic iso-ir-127 iso_8859-6:1987
    ISO-8859-6 iso-8859-6-e iso-8859-6-i csiso88596e csiso88596i
    ISO-8859-7 greek greek8 sun_eu_greek ecma-118 elot_928 csisolatingreek iso-ir-126 iso_8859-7:1987
    ISO-8859-8 hebrew visual logical csisolatinhebrew iso-ir-138 iso_8859-8:1988
    ISO-8859-8 iso-8859-8-e iso-8859-8-i csiso88598e csiso88598i
    ISO-8859-9 latin5 l5 csisolatin5 iso-ir-148 iso_8859-9:1989
    ISO-8859-10 latin6 l6 csisolatin6 iso-ir-157
    ISO-8859-15 latin-9 latin9 l9 csisolatin9
    IBM866 866 cp866 csibm866
    KOI8-R koi8 koi koi8_r cskoi8r
    KOI8-U koi8-ru
    MACINTOSH mac x-mac-roman csmacintosh
    MAC-CYRILLIC x-mac-cyrillic x-mac-ukrainian
    CP874 windows-874 iso-8859-11 iso8859-11 iso885911 tis-620 dos-874
    GBK gb2312 gb_2312 gb_2312-80 x-gbk chinese csgb2312 csiso58gb231280 iso-ir-58
    GB18030
    BIG5-HKSCS big5 big5-hkscs cn-big5 x-x-big5 csbig5
    EUC-JP x-euc-jp cseucpkdfmtjapanese
    ISO-2022-JP csiso2022jp
    CP932 shift_jis shift-jis sjis x-sjis windows-31j ms932 ms_kanji csshiftjis
    CP949 euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cseuckr csksc56011987 iso-ir-149
    UTF-16 unicode ucs-2 iso-10646-ucs-2 csunicode unicodefeff
    UTF-16LE
    UTF-16BE unicodefffe
    UTF-32
    UTF-32LE
    UTF-32BE
    """
}
