extension HTTPHeaderName {
  /// Age.
  public static let age: HTTPHeaderName = "Age"
  /// Cache-Status (RFC 9211).
  public static let cacheStatus: HTTPHeaderName = "Cache-Status"
  /// Content-Location.
  public static let contentLocation: HTTPHeaderName = "Content-Location"
  /// Expires.
  public static let expires: HTTPHeaderName = "Expires"
  /// If-Match.
  public static let ifMatch: HTTPHeaderName = "If-Match"
  /// If-Unmodified-Since.
  public static let ifUnmodifiedSince: HTTPHeaderName = "If-Unmodified-Since"
  /// Pragma.
  public static let pragma: HTTPHeaderName = "Pragma"
}
