import ErrandFoundation

/// The expected digest of a downloaded file.
public struct TransferDigest: Sendable, Hashable {
  /// The SHA-256 in lowercase hexadecimal.
  let sha256: String

  /// A SHA-256 as 64 hexadecimal digits, as printed by `sha256sum`. An invalid value matches no file.
  public static func sha256(_ hexadecimal: String) -> TransferDigest {
    TransferDigest(sha256: hexadecimal.lowercased().filter { !$0.isWhitespace })
  }
}

extension TransferDigest {
  /// The SHA-256 of the whole file in the headers of an uncompressed response (RFC 9530). `nil` if it is missing.
  /// `Content-Digest` counts only if `isWhole`.
  static func stated(in headers: HTTPHeaders, isWhole: Bool) -> String? {
    value(headers.values(for: .reprDigest)) ?? (isWhole ? value(headers.values(for: .contentDigest)) : nil)
  }

  /// The value of `sha-256` in a structured field dictionary (RFC 8941 §3.2): `sha-256=:…:`. The name is matched
  /// case-insensitively, because the older `Digest` field used capitals and some servers still do.
  private static func value(_ lines: [String]) -> String? {
    let members = FieldScanner.members(of: lines).filter { $0.lowercased().hasPrefix("sha-256=:") }
    guard let member = members.last else { return nil }  // RFC 8941 §3.2: the last duplicate wins
    let rest = member.dropFirst("sha-256=:".count)
    guard let end = rest.firstIndex(of: ":"), let bytes = Data(base64Encoded: String(rest[..<end])), bytes.count == 32
    else { return nil }
    return SHA256.hexadecimal(bytes)
  }
}
