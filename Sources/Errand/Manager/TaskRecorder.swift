import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Writes each call as a numbered text file: `0001. GET Widget.txt`.
///
/// A file is written under a hidden name and then linked to the next free number, which fails where that is taken: so
/// no file is ever partial, and sessions in the same folder do not overwrite each other's.
actor TaskRecorder {
  nonisolated let folder: URL
  private var lastNumber = 0
  private var hasFailed = false

  init(folder: URL) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let probe = folder.appendingPathComponent(Self.hiddenName())
      try Data().write(to: probe)
      try FileManager.default.removeItem(at: probe)
    } catch {
      throw TaskError(
        .fileNotWritable, "the folder for recordings, \(folder.path), cannot be written to", phase: .preparing,
        underlying: error)
    }
    self.folder = folder
  }

  /// A folder below the temporary one that no other session has.
  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("errand-recordings").appendingPathComponent(UUID().uuidString)
  }

  /// Writes one call; returns what went wrong, the first time that something does.
  func record(_ text: String, name: String) -> String? {
    let hidden = folder.appendingPathComponent(Self.hiddenName())
    defer { try? FileManager.default.removeItem(at: hidden) }  // it may never have come to be
    do {
      try Data(text.utf8).write(to: hidden)
      try publish(hidden, as: name)
      return nil
    } catch {
      defer { hasFailed = true }
      return hasFailed ? nil : "recording to \(folder.path) fails: \(error.localizedDescription)"
    }
  }

  private func publish(_ hidden: URL, as name: String) throws {
    while true {
      lastNumber += 1
      let number = String(lastNumber)
      let padded = String(repeating: "0", count: max(0, 4 - number.count)) + number
      let file = folder.appendingPathComponent("\(padded). \(name).txt")
      if taken(padded) { continue }
      if link(hidden.path, file.path) == 0 { return }
      guard errno == EEXIST else { throw CocoaError(.fileWriteUnknown) }
    }
  }

  /// Whether another session has used the number, under whatever name.
  private func taken(_ number: String) -> Bool {
    let marker = folder.appendingPathComponent(".\(number)").path
    let descriptor = open(marker, O_CREAT | O_EXCL | O_WRONLY, 0o644)
    guard descriptor >= 0 else { return errno == EEXIST }
    close(descriptor)
    return false
  }

  private static func hiddenName() -> String { ".recording-\(UUID().uuidString)" }
}
