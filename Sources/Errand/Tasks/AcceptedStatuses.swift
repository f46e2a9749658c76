/// Which statuses are success.
public struct AcceptedStatuses: Sendable {
  private let accepts: (@Sendable (HTTPStatus) -> Bool)?

  /// Those for which `accepts` says so.
  public init(_ accepts: @escaping @Sendable (HTTPStatus) -> Bool) { self.accepts = accepts }

  private init() { accepts = nil }

  /// As the server says: 2xx and 304, or every status where ``ServerConfiguration/reportBadHTTPStatusAsError`` is off.
  public static let inherited = AcceptedStatuses()
  /// Every status.
  public static let all = AcceptedStatuses { _ in true }
  /// These statuses and no others.
  public static func only(_ statuses: HTTPStatus...) -> AcceptedStatuses {
    let statuses = Set(statuses)
    return AcceptedStatuses { statuses.contains($0) }
  }

  func contains(_ status: HTTPStatus, inherited: Bool) -> Bool {
    accepts?(status) ?? (!inherited || status.isAccepted)
  }
}
