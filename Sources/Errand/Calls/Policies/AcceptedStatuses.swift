/// The statuses that count as success.
public struct AcceptedStatuses: Sendable, ExpressibleByArrayLiteral {
  private let accepts: (@Sendable (HTTPStatus) -> Bool)?
  /// Whether other statuses are returned rather than thrown.
  let returnsOthers: Bool

  /// Accepts the statuses for which `accepts` returns `true`.
  public init(_ accepts: @escaping @Sendable (HTTPStatus) -> Bool) {
    self.accepts = accepts
    returnsOthers = false
  }

  private init(returnsOthers: Bool) {
    accepts = nil
    self.returnsOthers = returnsOthers
  }

  /// Accepts 2xx and 304. If ``ServerConfiguration/reportBadHTTPStatusAsError`` is off, other statuses are returned
  /// instead of thrown. They still don't count as success: they are retried as usual and don't replace a file.
  public static let inherited = AcceptedStatuses(returnsOthers: false)
  /// Like ``inherited``, but always returns other statuses, regardless of
  /// ``ServerConfiguration/reportBadHTTPStatusAsError``.
  public static let any = AcceptedStatuses(returnsOthers: true)
  /// Accepts every status.
  public static let all = AcceptedStatuses { _ in true }
  /// Accepts only these statuses.
  public static func only(_ statuses: HTTPStatus...) -> AcceptedStatuses {
    let statuses = Set(statuses)
    return AcceptedStatuses { statuses.contains($0) }
  }

  /// Accepts only these statuses, for example `[.ok, .notFound]`.
  public init(arrayLiteral statuses: HTTPStatus...) {
    let statuses = Set(statuses)
    self.init { statuses.contains($0) }
  }

  func contains(_ status: HTTPStatus) -> Bool { accepts?(status) ?? status.isAccepted }

  /// Whether only 2xx and 304 count as success.
  package var areUsual: Bool { accepts == nil }

  var isInherited: Bool { accepts == nil && !returnsOthers }
}
