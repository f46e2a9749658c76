/// The name under which responses are stored: the URL, and the credential that the request carried.
///
/// A response to a request with a credential is found by requests with the same one only.
public struct CacheKey: Sendable, Hashable {
  /// The URL without its fragment.
  public let url: String
  /// A hash of the credential; empty where there was none.
  public let credential: String

  /// A key by its parts.
  public init(url: String, credential: String = "") {
    self.url = url
    self.credential = credential
  }
}

extension CacheKey {
  /// The text of a URL as a key has it: without a fragment, which is never sent.
  static func text(of url: String) -> String {
    url.utf8.contains(UInt8(ascii: "#")) ? String(url.prefix { $0 != "#" }) : url
  }
}
