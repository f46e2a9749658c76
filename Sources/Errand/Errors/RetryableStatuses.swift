/// Statuses after which the same request may well succeed a little later.
public struct RetryableStatuses: Sendable, ExpressibleByArrayLiteral {
  private let codes: Set<HTTPStatus>

  /// These statuses.
  public init(_ statuses: some Sequence<HTTPStatus>) { codes = Set(statuses) }

  /// These statuses.
  public init(arrayLiteral elements: HTTPStatus...) { codes = Set(elements) }

  /// 408, 429, 502, 503 and 504. Not 500: the server may have done half of the work.
  public static let standard: RetryableStatuses = [
    .requestTimeout, .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout,
  ]

  /// True when `status` is one of them.
  public func contains(_ status: HTTPStatus) -> Bool { codes.contains(status) }
}
