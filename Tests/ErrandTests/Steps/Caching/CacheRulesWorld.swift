import Foundation

@testable import Errand

/// Inputs for the cache rules: a stored response and the time of a request.
struct CacheRulesWorld {
  /// 1 January 2024, 00:00:00 GMT.
  static let start = Date(timeIntervalSince1970: 1_704_067_200)
  static let url = URL(string: "https://shop.test/widgets/7") ?? URL(fileURLWithPath: "/")

  /// Returns the time `seconds` after the start, formatted as a header value.
  static func date(_ seconds: Double) -> String { HTTPDate.format(start + seconds) }

  /// Creates a response received at the start.
  static func stored(
    _ control: String? = nil, _ headers: HTTPHeaders = [:], status: HTTPStatus = .ok, delay: Double = 0
  ) -> StoredResponse {
    var headers = headers
    headers.setDefault(date(0), for: .date)
    if let control { headers[.cacheControl] = control }
    return StoredResponse(status: status, headers: headers, requestTime: start - delay, responseTime: start)
  }

  static func demand(_ headers: HTTPHeaders = [:], method: HTTPMethod = .get, body: HTTPBody = .empty) -> CacheDemand {
    CacheDemand(HTTPRequest(method, url, headers: headers, body: body), now: start)
  }

  /// Returns the decision for a request `seconds` after the start.
  static func decide(
    _ stored: StoredResponse?, _ headers: HTTPHeaders = [:], method: HTTPMethod = .get, after seconds: Double = 0,
    policy: CachePolicy = .standard, hasOthers: Bool = false
  ) -> CacheDecision {
    .on(demand(headers, method: method), policy, stored: stored, hasOthers: hasOthers, now: start + seconds)
  }

  static func response(_ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
    HTTPResponse(status, url: url, headers: headers)
  }

  /// Whether a response can be stored.
  static func allows(
    _ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:], request: HTTPHeaders = [:], method: HTTPMethod = .get
  ) -> Bool {
    Storing.allows(demand(request, method: method), response(status, headers), now: start)
  }
}

extension CacheDecision {
  /// Whether the stored response is served without a background validation.
  var isHit: Bool {
    if case .serve(let use) = self { !use.validatesAfterwards } else { false }
  }
}
