/// A set of HTTP statuses after which a retry of the same request may succeed.
public struct RetryableStatuses: Sendable, ExpressibleByArrayLiteral {
  private let codes: Set<HTTPStatus>

  /// Creates a set of statuses.
  public init(_ statuses: some Sequence<HTTPStatus>) { codes = Set(statuses) }

  /// Creates a set of statuses.
  public init(arrayLiteral elements: HTTPStatus...) { codes = Set(elements) }

  /// The statuses 408, 429, 502, 503 and 504. 500 is not included because the server may have done part of the work.
  public static let standard: RetryableStatuses = [
    .requestTimeout, .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout,
  ]

  /// Whether the set contains `status`.
  public func contains(_ status: HTTPStatus) -> Bool { codes.contains(status) }
}
