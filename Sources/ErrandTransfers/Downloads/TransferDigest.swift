import Errand
public import ErrandFoundation

/// The expected digest of a download.
///
///     let digest = try TransferDigest.sha256("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
public struct TransferDigest: Sendable, Hashable {
  /// The SHA-256 digest in lowercase hexadecimal.
  let sha256: String

  /// Creates a SHA-256 digest.
  ///
  /// - Parameter hexadecimal: 64 hexadecimal digits in any case, as printed by `sha256sum`. A `sha256:` prefix and
  ///   whitespace are ignored.
  /// - Throws: `TaskError` with code `.badRequest` if the digest is invalid.
  public static func sha256(_ hexadecimal: String) throws -> TransferDigest {
    let text = hexadecimal.lowercased().filter { !$0.isWhitespace }
    let digits = text.hasPrefix("sha256:") ? String(text.dropFirst("sha256:".count)) : text
    guard digits.utf8.count == 64, digits.hasOnlyBytes(where: isDigit) else {
      throw TaskError(
        .badRequest, "invalid SHA-256 digest '\(hexadecimal.shortened)': it must have 64 hexadecimal digits",
        phase: .preparing, wasNotSent: true)
    }
    return TransferDigest(sha256: digits)
  }

  /// Returns the SHA-256 digest of data.
  public static func sha256(of data: Data) -> TransferDigest {
    TransferDigest(sha256: SHA256.hexadecimal(SHA256.hash(data)))
  }

  /// Checks that the data has this digest.
  ///
  ///     try digest.check(try await shop.data(.get("catalog")))
  ///
  /// - Throws: `TaskError` with code `.digestMismatch` if it has another.
  public func check(_ data: Data) throws {
    let actual = Self.sha256(of: data).sha256
    guard actual == sha256 else { throw mismatch(actual, "") }
  }

  func mismatch(_ actual: String, _ consequence: String) -> TaskError {
    TaskError(.digestMismatch, "SHA-256 mismatch: expected \(sha256), got \(actual)\(consequence)", phase: .finishing)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}

extension TransferDigest: CustomStringConvertible {
  /// The digest in the form `sha256:9f86d0…`.
  public var description: String { "sha256:\(sha256)" }
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
