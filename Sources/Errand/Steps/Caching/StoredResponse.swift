public import ErrandFoundation

/// A response in a cache, without its body.
public struct StoredResponse: Sendable, Hashable {
  /// The most responses that are kept under one key: a server may choose by a field that is another each time.
  static let mostVariants = 32

  /// The status.
  public let status: HTTPStatus
  /// The header fields as they were stored.
  public let headers: HTTPHeaders
  /// The moment at which its request was sent.
  public let requestTime: Date
  /// The moment at which it came, or was last validated.
  public let responseTime: Date
  /// The fields of its request by which it was chosen; one that the request did not have is missing.
  public let selecting: HTTPHeaders
  /// True where the body was unpacked, so that `Content-Encoding` says what it was over the wire.
  public let isUnpacked: Bool
  /// The length of the body as it is stored, where the server says so.
  var statedLength: Int? {
    isUnpacked && headers.isCompressed ? nil : headers.number(.contentLength).map { Int($0) }
  }

  let terms: CacheTerms
  /// The fields that `Vary` names; nil where the response fits no other request. Read once, for every hit looks at them.
  let varying: [HTTPHeaderName]?

  /// A response by its parts, as a store has kept them.
  public init(
    status: HTTPStatus, headers: HTTPHeaders, requestTime: Date, responseTime: Date, selecting: HTTPHeaders = [:],
    isUnpacked: Bool = true
  ) {
    self.status = status
    self.headers = headers
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.selecting = selecting
    self.isUnpacked = isUnpacked
    terms = CacheTerms(status, headers, requestTime: requestTime, responseTime: responseTime)
    varying = if case .fields(let names) = Vary(headers) { names } else { nil }
  }

  var eTag: EntityTag? { headers.tagForCopy }

  /// True when it can be validated at its server.
  var hasValidator: Bool { eTag != nil || headers.dateForCopy != nil }

  /// Its age, as a response from a cache states it.
  public func age(at now: Date) -> Duration { terms.age(at: now) }

  // RFC 9111 §4.1: every field that Vary names is absent from both requests, or the same.
  /// True when it was chosen by the same fields as a response to this request would be.
  func fits(_ request: HTTPHeaders, unpacks: Bool) -> Bool {
    guard let varying else { return false }
    guard isUnpacked == unpacks || !headers.isCompressed else { return false }
    return varying.allSatisfy { Vary.isSame(selecting[$0], Vary.value(of: $0, in: request)) }
  }

  /// The fields of a request by which a response with this header was chosen.
  static func selecting(_ headers: HTTPHeaders, _ request: HTTPHeaders) -> HTTPHeaders {
    guard case .fields(let names) = Vary(headers) else { return [:] }
    var selecting = HTTPHeaders()
    for name in names { if let value = Vary.value(of: name, in: request) { selecting[name] = value } }
    return selecting
  }

  /// True when it takes the place of a response that was chosen by the same values of the same fields.
  public func supersedes(_ other: StoredResponse) -> Bool {
    selecting.count == other.selecting.count && isUnpacked == other.isUnpacked
      && selecting.allSatisfy { Vary.isSame(other.selecting[$0.name], $0.value) }
      && Set(varying ?? []) == Set(other.varying ?? [])
  }
}
