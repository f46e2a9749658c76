import ErrandFoundation

/// The name of what is transferred, by which a journal is known to be about the same thing after a relaunch.
///
/// It is a hash, for a URL may have a secret in it. What a signature adds to a query is left out: it is another one each time.
enum TransferIdentity {
  private static let prefixes = ["x-amz-", "x-goog-"]
  /// The signatures themselves: without one of them the other names are an application's own.
  private static let signatures: Set<String> = ["signature", "sig", "x-amz-signature", "x-goog-signature"]
  /// Of CloudFront, of older signatures, and of Azure.
  private static let names: Set<String> = [
    "signature", "expires", "key-pair-id", "policy", "awsaccesskeyid", "googleaccessid", "sig", "se", "st", "skt",
    "ske",
  ]

  /// The identity of what is at a URL.
  static func of(_ url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      return SHA256.hexadecimal(of: url.absoluteString)
    }
    parts.fragment = nil
    parts.user = nil
    parts.password = nil
    if let items = parts.percentEncodedQueryItems, items.contains(where: { signatures.contains($0.name.lowercased()) })
    {
      parts.percentEncodedQueryItems = items.filter { !isOfSignature($0.name.lowercased()) }
    }
    return SHA256.hexadecimal(of: parts.string ?? url.absoluteString)
  }

  /// The identity of what its owner has given a name.
  static func of(name: String) -> String { SHA256.hexadecimal(of: "name \(name)") }

  private static func isOfSignature(_ name: String) -> Bool {
    names.contains(name) || prefixes.contains { name.hasPrefix($0) }
  }
}
