import Foundation

/// A call as it is recorded.
struct Recording: Sendable {
  let text: String
  /// The name of the file, but for its number.
  let name: String
  let entry: RecordingEntry
}

/// Writes each call as a numbered text file, `0001. GET Widget.txt`, and keeps an index of them, `index.json`.
///
/// Calls that end at the same time are written together, in the order in which they ended.
actor TaskRecorder {
  private struct Queue {
    var recordings: [Recording] = []
    var isEnded = false
  }

  nonisolated let url: URL
  private nonisolated let queue = Lock(Queue())
  private let limits: RecordingLimits
  private var folder: RecordingFolder
  private var hasFailed = false

  init(folder url: URL, limits: RecordingLimits) throws {
    self.url = url
    self.limits = limits
    var folder = RecordingFolder(url)
    do {
      try folder.open()
    } catch {
      throw TaskError(
        .fileNotWritable, "the folder for recordings, \(url.path), cannot be written to", phase: .preparing,
        underlying: error)
    }
    self.folder = folder
  }

  /// A folder below the temporary one that no other session has.
  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("errand-recordings").appendingPathComponent(UUID().uuidString)
  }

  /// Writes one call, and returns when it is written; returns what went wrong, the first time that something does.
  nonisolated func record(_ recording: Recording) async -> String? {
    let isWanted = queue.withLock { queue in
      if !queue.isEnded { queue.recordings.append(recording) }
      return !queue.isEnded
    }
    return isWanted ? await writeQueue() : nil
  }

  /// Nothing more is recorded.
  nonisolated func end() { queue.withLock { $0.isEnded = true } }

  private func writeQueue() -> String? {
    let recordings = queue.withLock { queue in
      defer { queue.recordings = [] }
      return queue.recordings
    }
    guard !recordings.isEmpty else { return nil }  // somebody else has written ours with theirs
    do {
      try folder.write(recordings, limits)
      return nil
    } catch {
      defer { hasFailed = true }
      return hasFailed ? nil : "recording to \(url.path) fails: \(error.localizedDescription)"
    }
  }
}
