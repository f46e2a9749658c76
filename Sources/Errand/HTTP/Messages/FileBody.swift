/// A body in a file, which can be read several times.
protocol FileBody: AnyObject, Sendable {
  /// Returns a reader of the entire body.
  func reader() throws -> any HTTPBodySource

  /// Removes the file if it is temporary. Readers get an error afterwards.
  func close()
}

extension FileBody {
  func close() {}
}
