import ErrandFoundation

#if os(Linux)
  import CCurl
#endif

/// Converts international names to ASCII for DNS: `bücher.example` becomes `xn--bcher-kva.example` (UTS 46,
/// non-transitional, as in browsers).
///
/// If Foundation doesn't convert such a name itself, the URL contains it percent-encoded, as in `b%C3%BCcher.example`.
extension HostName {
  package typealias Converter = @Sendable (_ name: String) throws(Refusal) -> String

  static func ascii(_ bytes: [UInt8], by convert: Converter) throws(Refusal) -> [UInt8] {
    // A zero byte would end the C string.
    guard !bytes.contains(0), let name = String(bytes: bytes, encoding: .utf8) else { throw .character }
    return Array(try convert(name).utf8)
  }

  #if os(Linux)
    package static let convert: Converter = { name throws(Refusal) in
      var ascii: UnsafeMutablePointer<CChar>?
      let outcome = chosts_ascii(name, &ascii)
      guard let ascii else { throw outcome == Int32(CHOSTS_MISSING_LIBRARY) ? .noConverter : .noName }
      defer { chosts_free(ascii) }
      return String(cString: ascii)
    }
  #else
    package static let convert: Converter = { name throws(Refusal) in
      guard let ascii = URL(string: "https://\(name)/")?.host(percentEncoded: true),
        ascii.utf8.allSatisfy({ $0 < 0x80 })
      else { throw .noName }
      return ascii
    }
  #endif
}
