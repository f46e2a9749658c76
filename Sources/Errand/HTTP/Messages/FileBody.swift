/// A body in a file, which can be read several times.
protocol FileBody: AnyObject, Sendable {
  /// Returns a reader of the entire body.
  func reader() throws -> any HTTPBodySource
}
