import ErrandFoundation

/// The name of what is transferred, by which a journal is known to be about the same thing after a relaunch.
///
/// It is a hash, for a URL may have a secret in it. What a signature adds to a query is left out: it is another one each time.
enum TransferIdentity {
  /// What a signature of a kind adds to a query.
  private struct Kind {
    /// The parameter with the signature; without it the others are an application's own.
    let signature: String
    /// Others that tell the kind; one of them has to be there.
    var marks: Set<String> = []
    /// The parameters that are another one each time, beside these.
    var names: Set<String> = []
    /// The beginning of all parameters of the kind.
    var prefix: String?

    /// True for a parameter of the kind.
    func has(_ name: String) -> Bool {
      name == signature || marks.contains(name) || names.contains(name) || prefix.map { name.hasPrefix($0) } ?? false
    }
  }

  // Amazon's and Google's; CloudFront's, the older ones of both and all that expire; Azure's; an application's own.
  private static let kinds = [
    Kind(signature: "x-amz-signature", prefix: "x-amz-"), Kind(signature: "x-goog-signature", prefix: "x-goog-"),
    Kind(
      signature: "signature", marks: ["key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "expires"],
      names: ["policy"]),
    Kind(signature: "sig", marks: ["se", "si"], names: ["sv", "st", "skt", "ske"]),
    Kind(signature: "signature"), Kind(signature: "sig"),
  ]

  /// The identity of what is at a URL.
  static func of(_ url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      return SHA256.hexadecimal(of: url.absoluteString)
    }
    parts.fragment = nil
    parts.user = nil
    parts.password = nil
    if let items = parts.percentEncodedQueryItems, let kind = kind(of: Set(items.map { $0.name.lowercased() })) {
      parts.percentEncodedQueryItems = items.filter { !kind.has($0.name.lowercased()) }
    }
    return SHA256.hexadecimal(of: parts.string ?? url.absoluteString)
  }

  /// The identity of what its owner has given a name.
  static func of(name: String) -> String { SHA256.hexadecimal(of: "name \(name)") }

  /// The kind of signature that a query with these names has; nil for none.
  private static func kind(of names: Set<String>) -> Kind? {
    kinds.first { names.contains($0.signature) && ($0.marks.isEmpty || !$0.marks.isDisjoint(with: names)) }
  }
}
