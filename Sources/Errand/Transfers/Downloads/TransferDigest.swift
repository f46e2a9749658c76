import ErrandFoundation

/// The digest that a file must have once it is complete.
public struct TransferDigest: Sendable, Hashable {
  /// The SHA-256 in small hexadecimal digits.
  let sha256: String

  /// A SHA-256 in 64 hexadecimal digits, as `sha256sum` prints it. Anything else is the digest of no file.
  public static func sha256(_ hexadecimal: String) -> TransferDigest {
    TransferDigest(sha256: hexadecimal.lowercased().filter { !$0.isWhitespace })
  }
}

extension TransferDigest {
  /// The SHA-256 of the whole, as the header of a response says it (RFC 9530); nil where it does not.
  ///
  /// - Parameters:
  ///   - headers: The header; of a body that is not packed.
  ///   - isWhole: Whether the response has the whole, so that its content is the representation.
  static func stated(in headers: HTTPHeaders, isWhole: Bool) -> String? {
    value(headers.values(for: .reprDigest)) ?? (isWhole ? value(headers.values(for: .contentDigest)) : nil)
  }

  /// The value of `sha-256` in a dictionary of structured fields (RFC 8941 §3.2): `sha-256=:…:`. The older `Digest` field wrote the
  /// name in capitals, and some servers still do.
  private static func value(_ lines: [String]) -> String? {
    let members = FieldScanner.members(of: lines).filter { $0.lowercased().hasPrefix("sha-256=:") }
    guard let member = members.last else { return nil }  // RFC 8941 §3.2: the last one of a name counts
    let rest = member.dropFirst("sha-256=:".count)
    guard let end = rest.firstIndex(of: ":"), let bytes = Data(base64Encoded: String(rest[..<end])), bytes.count == 32
    else { return nil }
    return SHA256.hexadecimal(bytes)
  }
}
