/// The statuses that count as success.
public struct AcceptedStatuses: Sendable, ExpressibleByArrayLiteral {
  private let accepts: (@Sendable (HTTPStatus) -> Bool)?
  /// True where others are returned, and no success.
  let returnsOthers: Bool

  /// Those for which `accepts` says so.
  public init(_ accepts: @escaping @Sendable (HTTPStatus) -> Bool) {
    self.accepts = accepts
    returnsOthers = false
  }

  private init(returnsOthers: Bool) {
    accepts = nil
    self.returnsOthers = returnsOthers
  }

  /// 2xx and 304. Where ``ServerConfiguration/reportBadHTTPStatusAsError`` is off, others are returned as they are, but
  /// are no success: they are retried as usual, and replace no file.
  public static let inherited = AcceptedStatuses(returnsOthers: false)
  /// 2xx and 304. Others are returned as they are, whatever ``ServerConfiguration/reportBadHTTPStatusAsError`` says, but are no
  /// success: they are retried as usual, and replace no file.
  public static let returningOthers = AcceptedStatuses(returnsOthers: true)
  /// Every status.
  public static let all = AcceptedStatuses { _ in true }
  /// These statuses and no others.
  public static func only(_ statuses: HTTPStatus...) -> AcceptedStatuses {
    let statuses = Set(statuses)
    return AcceptedStatuses { statuses.contains($0) }
  }

  /// These statuses and no others: `[.ok, .notFound]`.
  public init(arrayLiteral statuses: HTTPStatus...) {
    let statuses = Set(statuses)
    self.init { statuses.contains($0) }
  }

  /// True when a status is success.
  func contains(_ status: HTTPStatus) -> Bool { accepts?(status) ?? status.isAccepted }

  /// True where no others are success than 2xx and 304.
  var areUsual: Bool { accepts == nil }

  /// True where the server's statuses apply.
  var isInherited: Bool { accepts == nil && !returnsOthers }
}
