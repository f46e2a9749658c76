/// A body in a file, which can be read several times.
protocol FileBody: AnyObject, Sendable {
  /// Returns a reader of the entire body.
  func reader() throws -> any HTTPBodySource

  /// A body with the same content for other calls, which must not move or remove the file.
  var shared: any FileBody { get }
}

extension FileBody {
  var shared: any FileBody { self }
}
