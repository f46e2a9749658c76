import ErrandFoundation

#if os(Linux)
  import CCurl
#endif

/// Names in other scripts than ASCII's, in the form in which they are looked up: `bücher.example` is
/// `xn--bcher-kva.example` (UTS 46, not transitional, as in browsers).
///
/// URLs bring them percent-encoded, `b%C3%BCcher.example`, wherever Foundation has no such form of its own.
extension HostName {
  /// The function that brings a name to its ASCII form.
  package typealias Converter = @Sendable (_ name: String) throws(Refusal) -> String

  /// The ASCII form of a name's bytes in UTF-8.
  static func ascii(_ bytes: [UInt8], by convert: Converter) throws(Refusal) -> [UInt8] {
    // A zero would end the name for C.
    guard !bytes.contains(0), let name = String(bytes: bytes, encoding: .utf8) else { throw .character }
    return Array(try convert(name).utf8)
  }

  #if os(Linux)
    /// Asks libidn2.
    package static let convert: Converter = { name throws(Refusal) in
      var ascii: UnsafeMutablePointer<CChar>?
      let outcome = chosts_ascii(name, &ascii)
      guard let ascii else { throw outcome == Int32(CHOSTS_MISSING_LIBRARY) ? .noConverter : .noName }
      defer { chosts_free(ascii) }
      return String(cString: ascii)
    }
  #else
    /// Asks Foundation, which converts the hosts of URLs.
    package static let convert: Converter = { name throws(Refusal) in
      guard let ascii = URL(string: "https://\(name)/")?.host(percentEncoded: true),
        ascii.utf8.allSatisfy({ $0 < 0x80 })
      else { throw .noName }
      return ascii
    }
  #endif
}
