extension HTTPHeaderName {
  /// The `Age` header field.
  public static let age: HTTPHeaderName = "Age"
  /// The `Cache-Status` header field (RFC 9211).
  public static let cacheStatus: HTTPHeaderName = "Cache-Status"
  /// The `Content-Location` header field.
  public static let contentLocation: HTTPHeaderName = "Content-Location"
  /// The `Expires` header field.
  public static let expires: HTTPHeaderName = "Expires"
  /// The `If-Match` header field.
  public static let ifMatch: HTTPHeaderName = "If-Match"
  /// The `If-Unmodified-Since` header field.
  public static let ifUnmodifiedSince: HTTPHeaderName = "If-Unmodified-Since"
  /// The `Pragma` header field.
  public static let pragma: HTTPHeaderName = "Pragma"
}
