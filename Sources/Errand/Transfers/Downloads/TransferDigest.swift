import ErrandFoundation

/// The expected digest of a downloaded file.
public struct TransferDigest: Sendable, Hashable {
  /// The SHA-256 digest in lowercase hexadecimal.
  let sha256: String

  /// Creates a SHA-256 digest from 64 hexadecimal digits, as printed by `sha256sum`. An invalid digest does not match
  /// any file.
  public static func sha256(_ hexadecimal: String) -> TransferDigest {
    TransferDigest(sha256: hexadecimal.lowercased().filter { !$0.isWhitespace })
  }
}

extension TransferDigest {
  /// Returns the SHA-256 digest of the entire file from an uncompressed response's headers (RFC 9530), or `nil` if it
  /// is missing. `Content-Digest` is used only if `isWhole` is `true`.
  static func stated(in headers: HTTPHeaders, isWhole: Bool) -> String? {
    value(headers.values(for: .reprDigest)) ?? (isWhole ? value(headers.values(for: .contentDigest)) : nil)
  }

  /// Returns the value of `sha-256` in a structured field dictionary (RFC 8941 §3.2), such as `sha-256=:…:`. The name
  /// is case-insensitive, because the older `Digest` field used uppercase names and some servers still do.
  private static func value(_ lines: [String]) -> String? {
    let members = FieldScanner.members(of: lines).filter { $0.lowercased().hasPrefix("sha-256=:") }
    guard let member = members.last else { return nil }  // RFC 8941 §3.2: the last duplicate wins
    let rest = member.dropFirst("sha-256=:".count)
    guard let end = rest.firstIndex(of: ":"), let bytes = Data(base64Encoded: String(rest[..<end])), bytes.count == 32
    else { return nil }
    return SHA256.hexadecimal(bytes)
  }
}
