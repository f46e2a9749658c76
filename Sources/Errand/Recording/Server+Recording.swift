public import Foundation

extension Server {
  /// Records every call of the server's manager from now on; see ``TaskManager/recordTaskPath(to:limits:)``.
  ///
  /// - Parameters:
  ///   - folder: Where to; a new folder below the temporary one unless given.
  ///   - limits: How many recordings are kept.
  /// - Returns: The folder.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder cannot be made or written to.
  @discardableResult
  public func recordTaskPath(to folder: URL? = nil, limits: RecordingLimits = RecordingLimits()) throws -> URL {
    try manager.startRecording(to: folder, limits)
  }

  /// Stops recording; see ``TaskManager/endTaskPathRecording()``.
  public func endTaskPathRecording() async { await manager.stopRecording() }

  /// Where calls are recorded; nil while they are not.
  public nonisolated var taskPathURL: URL? { manager.taskPathURL }
}
