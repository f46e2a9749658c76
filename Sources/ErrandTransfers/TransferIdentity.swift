import Errand
import ErrandFoundation

/// Identifies a transfer's content, to find its journal again after a relaunch.
///
/// The identity is a hash because a URL may contain a secret. It ignores the query parameters of common URL signatures,
/// which change every time.
enum TransferIdentity {
  /// The query parameters of one signature scheme.
  private struct Kind {
    /// The parameter that contains the signature. Without it, the scheme does not apply.
    let signature: String
    /// Parameters that identify the scheme. If the set is not empty, at least one must be present.
    var marks: Set<String> = []
    /// Other parameters that change with every signature.
    var names: Set<String> = []
    /// The common prefix of the scheme's parameters.
    var prefix: String?

    func has(_ name: String) -> Bool {
      name == signature || marks.contains(name) || names.contains(name) || prefix.map { name.hasPrefix($0) } ?? false
    }
  }

  // In order: Amazon and Google; CloudFront, older Amazon and Google, and others with an expiry date; Azure; custom
  // signatures.
  private static let kinds = [
    Kind(signature: "x-amz-signature", prefix: "x-amz-"), Kind(signature: "x-goog-signature", prefix: "x-goog-"),
    Kind(
      signature: "signature", marks: ["key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "expires"],
      names: ["policy"]),
    Kind(signature: "sig", marks: ["se", "si"], names: ["sv", "st", "skt", "ske"]),
    Kind(signature: "signature"), Kind(signature: "sig"),
  ]

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

  static func of(name: String) -> String { SHA256.hexadecimal(of: "name \(name)") }

  /// Returns the signature scheme of a query with these parameters, or `nil` if the query is not signed.
  private static func kind(of names: Set<String>) -> Kind? {
    kinds.first { names.contains($0.signature) && ($0.marks.isEmpty || !$0.marks.isDisjoint(with: names)) }
  }
}
