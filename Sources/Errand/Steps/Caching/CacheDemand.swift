import ErrandFoundation

/// A request's requirements for a cached response (RFC 9111 §5.2.1).
struct CacheDemand: Sendable {
  let method: HTTPMethod
  let isCacheable: Bool
  var mustValidate = false
  var mayStore = true
  var onlyIfCached = false
  var maxAge: Duration?
  /// The maximum time since the response became stale, or `nil` if the response must be fresh.
  var maxStale: Duration?
  var minFresh = Duration.zero
  var staleIfError: Duration?
  var range: ByteRange?
  var ifNoneMatch: EntityTagCondition?
  var ifModifiedSince: Date?
  /// Whether only the server can answer, because the request has a condition that the cache can't evaluate, or a range
  /// in a unit other than bytes.
  var isForServer = false

  init(_ request: HTTPRequest, now: Date) {
    method = request.method
    let isSafe = request.method == .get || request.method == .head
    isCacheable = isSafe && request.body.isEmpty
    guard isCacheable else { return }
    read(request.headers, now: now)
  }

  private mutating func read(_ headers: HTTPHeaders, now: Date) {
    for field in headers {
      switch field.name {
      case .cacheControl, .pragma: readDirectives(headers)
      case .range:
        range = ByteRange(headers)
        if range == nil { isForServer = true }
      case .ifNoneMatch: ifNoneMatch = EntityTagCondition(headers.values(for: .ifNoneMatch))
      case .ifModifiedSince: ifModifiedSince = headers.firstDate(.ifModifiedSince, now: now)
      case .ifMatch, .ifUnmodifiedSince, .ifRange: isForServer = true
      default: break
      }
    }
  }

  private mutating func readDirectives(_ headers: HTTPHeaders) {
    let control = CacheControl(headers)
    mayStore = !control.contains("no-store")
    onlyIfCached = control.contains("only-if-cached")
    mustValidate = control.contains("no-cache")
    // RFC 9111 §5.4: without Cache-Control, `Pragma: no-cache` has the same meaning as `Cache-Control: no-cache`.
    if !headers.contains(.cacheControl), let pragma = headers[.pragma] {
      mustValidate = FieldScanner.members(of: [pragma]).contains { $0.lowercased() == "no-cache" }
    }
    maxAge = control.seconds("max-age") == .malformed ? .zero : control.seconds("max-age").value
    minFresh = control.seconds("min-fresh").value ?? .zero
    staleIfError = control.seconds("stale-if-error").value
    // RFC 9111 §5.2.1.2: without a value, any staleness is acceptable.
    maxStale = control.isUnqualified("max-stale") ? .seconds(DeltaSeconds.largest) : control.seconds("max-stale").value
  }

  /// Whether the caller set a condition, so that it can receive a 304.
  var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }
}
