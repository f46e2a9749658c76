import ErrandFoundation

/// The demands of a request on a cache, beside its URL (RFC 9111 §5.2.1).
struct CacheDemand: Sendable {
  let method: HTTPMethod
  /// False where the request cannot be answered from a cache at all.
  let isCacheable: Bool
  var mustValidate = false
  var mayStore = true
  var onlyIfCached = false
  var maxAge: Duration?
  /// The time for which a response may have been stale; nil where it may not.
  var maxStale: Duration?
  var minFresh = Duration.zero
  var staleIfError: Duration?
  /// The requested part.
  var range: ByteRange?
  /// The caller's own condition on tags.
  var ifNoneMatch: EntityTagCondition?
  /// The caller's own condition on the date.
  var ifModifiedSince: Date?
  /// True where the request has a condition that only its server can judge, or a range that is not one of bytes.
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
    // RFC 9111 §5.4: without Cache-Control, Pragma: no-cache means the same.
    if !headers.contains(.cacheControl), let pragma = headers[.pragma] {
      mustValidate = FieldScanner.members(of: [pragma]).contains { $0.lowercased() == "no-cache" }
    }
    maxAge = control.seconds("max-age") == .malformed ? .zero : control.seconds("max-age").value
    minFresh = control.seconds("min-fresh").value ?? .zero
    staleIfError = control.seconds("stale-if-error").value
    // RFC 9111 §5.2.1.2: without an argument, a response of any age.
    maxStale = control.isUnqualified("max-stale") ? .seconds(DeltaSeconds.largest) : control.seconds("max-stale").value
  }

  /// True where the caller asks on a condition of its own, and may be answered that its copy is still good.
  var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }
}
