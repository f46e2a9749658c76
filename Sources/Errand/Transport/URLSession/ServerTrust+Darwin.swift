#if HAS_URLSESSION && canImport(Darwin)
  import CryptoKit
  import Foundation
  import Security

  extension ServerTrust {
    /// Returns the error for a rejected server, or `nil` if the host has no pins or if the system trusts the server and
    /// a pin matches.
    func refusal(of space: URLProtectionSpace, adding more: PublicKeyPins) -> TaskError? {
      guard let expected = pins.union(more).pins(for: space.host) else { return nil }
      guard let trust = space.serverTrust, SecTrustEvaluateWithError(trust, nil) else {
        return TaskError(
          .untrustedServer, "the certificate of \(space.host) is not trusted", phase: .connecting, wasNotSent: true
        )
      }
      let shown = Self.pins(of: trust)
      guard expected.isDisjoint(with: shown) else { return nil }
      let list = shown.isEmpty ? "no readable key" : shown.map { "sha256/\($0)" }.joined(separator: ", ")
      return TaskError(
        .pinMismatch, "no pin for \(space.host) matches; the server presented \(list)", phase: .connecting,
        wasNotSent: true)
    }

    private static func pins(of trust: SecTrust) -> [String] {
      let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
      return chain.compactMap { certificate in
        guard let key = SecCertificateCopyKey(certificate), let kind = kind(of: key),
          let bare = SecKeyCopyExternalRepresentation(key, nil), let info = PublicKeyInfo.der(kind, key: bare as Data)
        else { return nil }
        return Data(CryptoKit.SHA256.hash(data: info)).base64EncodedString()
      }
    }

    private static func kind(of key: SecKey) -> PublicKeyInfo.Kind? {
      let attributes = SecKeyCopyAttributes(key) as? [String: Any]
      guard let type = attributes?[kSecAttrKeyType as String] as? String,
        let bits = attributes?[kSecAttrKeySizeInBits as String] as? Int
      else { return nil }
      if type == kSecAttrKeyTypeRSA as String { return .rsa }
      return type == kSecAttrKeyTypeECSECPrimeRandom as String ? .ellipticCurve(bits: bits) : nil
    }
  }
#endif
