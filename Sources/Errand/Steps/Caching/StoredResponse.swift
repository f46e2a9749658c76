public import ErrandFoundation

/// A cached response without its body.
public struct StoredResponse: Sendable, Hashable {
  /// The maximum number of responses under one key. Some servers vary responses by a field that changes every time.
  static let mostVariants = 32

  /// The status of the response.
  public let status: HTTPStatus
  /// The header fields, as stored.
  public let headers: HTTPHeaders
  /// The time at which the request was sent.
  public let requestTime: Date
  /// The time at which the response was received or last validated.
  public let responseTime: Date
  /// The request fields that selected this response (`Vary`), without fields that the request didn't have.
  public let selecting: HTTPHeaders
  /// Whether the body was decompressed. If so, `Content-Encoding` describes the body as sent by the server.
  public let isDecompressed: Bool
  /// The length of the stored body, if known from the header.
  var statedLength: Int? {
    isDecompressed && headers.isCompressed ? nil : headers.number(.contentLength).map { Int($0) }
  }

  let terms: CacheTerms
  /// The fields named by `Vary`, or `nil` if the response matches no other request. Parsed only once.
  let varying: [HTTPHeaderName]?

  /// Restores a response from a store.
  public init(
    status: HTTPStatus, headers: HTTPHeaders, requestTime: Date, responseTime: Date, selecting: HTTPHeaders = [:],
    isDecompressed: Bool = true
  ) {
    self.status = status
    self.headers = headers
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.selecting = selecting
    self.isDecompressed = isDecompressed
    terms = CacheTerms(status, headers, requestTime: requestTime, responseTime: responseTime)
    varying = if case .fields(let names) = Vary(headers) { names } else { nil }
  }

  var eTag: EntityTag? { headers.tagForCopy }

  var hasValidator: Bool { eTag != nil || headers.dateForCopy != nil }

  /// Returns the age of the response, as in the `Age` header.
  public func age(at now: Date) -> Duration { terms.age(at: now) }

  /// Whether the request would select this response (RFC 9111 §4.1): every field named by `Vary` has the same value in
  /// both requests, or is missing from both.
  func fits(_ request: HTTPHeaders, decompresses: Bool) -> Bool {
    guard let varying else { return false }
    guard isDecompressed == decompresses || !headers.isCompressed else { return false }
    return varying.allSatisfy { Vary.isSame(selecting[$0], Vary.value(of: $0, in: request)) }
  }

  static func selecting(_ headers: HTTPHeaders, _ request: HTTPHeaders) -> HTTPHeaders {
    guard case .fields(let names) = Vary(headers) else { return [:] }
    var selecting = HTTPHeaders()
    for name in names { if let value = Vary.value(of: name, in: request) { selecting[name] = value } }
    return selecting
  }

  /// Whether this response replaces `other`: both were selected by the same values of the same request fields.
  public func supersedes(_ other: StoredResponse) -> Bool {
    selecting.count == other.selecting.count && isDecompressed == other.isDecompressed
      && selecting.allSatisfy { Vary.isSame(other.selecting[$0.name], $0.value) }
      && Set(varying ?? []) == Set(other.varying ?? [])
  }
}
