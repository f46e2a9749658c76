/// A server's machine-readable description of a failure (RFC 9457 §3.1).
public struct ProblemDetails: Decodable, Sendable, Hashable {
  /// A URI that identifies the kind of problem.
  public let type: String?
  /// The kind of problem in a few words.
  public let title: String?
  /// The status that the server meant.
  public let status: Int?
  /// This occurrence in words.
  public let detail: String?
  /// A URI that identifies this occurrence.
  public let instance: String?
}
