import ErrandFoundation

/// A public key as it appears in certificates: `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1.2.7).
///
/// The Security framework returns the bare key without its type, but pins are computed over the entire structure. This
/// type doesn't use that framework, so it can be tested on every platform.
struct PublicKeyInfo {
  enum Kind: Hashable {
    /// RSA. The bare key is the `RSAPublicKey` of PKCS #1.
    case rsa
    /// A NIST curve with 256, 384 or 521 bits. The bare key is the uncompressed point (X9.63).
    case ellipticCurve(bits: Int)
  }

  /// Returns the DER-encoded structure, or `nil` for an unknown curve.
  static func der(_ kind: Kind, key: Data) -> Data? {
    guard let algorithm = algorithm(of: kind) else { return nil }
    // A bit string begins with the number of unused bits in its last byte.
    return element(0x30, element(0x30, algorithm) + element(0x03, Data([0]) + key))
  }

  // RFC 3279 §2.3.1 and RFC 5480 §2.1.1: an object identifier and its parameters.
  private static func algorithm(of kind: Kind) -> Data? {
    switch kind {
    case .rsa: return Data([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00])
    case .ellipticCurve(let bits):
      guard let curve = curves[bits] else { return nil }
      return Data([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]) + element(0x06, Data(curve))
    }
  }

  private static let curves: [Int: [UInt8]] = [
    256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
    384: [0x2B, 0x81, 0x04, 0x00, 0x22],
    521: [0x2B, 0x81, 0x04, 0x00, 0x23],
  ]

  /// Encodes an element as its tag, length and value (X.690 §8.1.3).
  private static func element(_ tag: UInt8, _ value: Data) -> Data {
    var length: [UInt8] = []
    if value.count < 0x80 {
      length = [UInt8(value.count)]
    } else {
      var rest = value.count
      while rest > 0 {
        length.insert(UInt8(rest & 0xFF), at: 0)
        rest >>= 8
      }
      length.insert(0x80 | UInt8(length.count), at: 0)
    }
    return Data([tag]) + Data(length) + value
  }
}
