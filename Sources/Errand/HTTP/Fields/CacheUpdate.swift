import ErrandFoundation

/// A 304 or HEAD response that may update stored responses.
struct CacheUpdate: Sendable {
  let requestTime: Date
  /// Whether the response answers the request that the cache key describes.
  let isOurs: Bool
}
