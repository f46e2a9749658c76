#if os(Linux)
  import ErrandFoundation

  enum CertificateKey {
    /// Returns the pin of a PEM certificate: the Base64-encoded SHA-256 of its `SubjectPublicKeyInfo`. Returns `nil` if
    /// the certificate can't be parsed.
    static func pin(ofPEM text: String) -> String? {
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
      guard let der = Data(base64Encoded: lines.joined(), options: .ignoreUnknownCharacters),
        let info = subjectPublicKeyInfo(Array(der))
      else { return nil }
      return "sha256/" + Data(SHA256.hash(info)).base64EncodedString()
    }

    /// RFC 5280 §4.1: Certificate ::= SEQUENCE { tbsCertificate SEQUENCE { [0] version, serial, signature, issuer,
    /// validity, subject, subjectPublicKeyInfo, … } … }
    private static func subjectPublicKeyInfo(_ der: [UInt8]) -> ArraySlice<UInt8>? {
      guard let certificate = element(der[...]), let body = element(certificate.content) else { return nil }
      var rest = body.content
      if rest.first == 0xA0, let version = element(rest) { rest = rest[version.end...] }
      for _ in 0..<5 {
        guard let skipped = element(rest) else { return nil }
        rest = rest[skipped.end...]
      }
      return element(rest).map { rest[..<$0.end] }
    }

    /// Returns the content of the first element in `bytes`, and the index of the next element (X.690 §8.1).
    private static func element(_ bytes: ArraySlice<UInt8>) -> (content: ArraySlice<UInt8>, end: Int)? {
      guard bytes.count >= 2 else { return nil }
      var start = bytes.startIndex + 2
      var length = Int(bytes[bytes.startIndex + 1])
      if length >= 0x80 {
        let count = length - 0x80
        guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
        length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
        start += count
      }
      guard length <= bytes.endIndex - start else { return nil }
      return (bytes[start..<(start + length)], start + length)
    }
  }
#endif
