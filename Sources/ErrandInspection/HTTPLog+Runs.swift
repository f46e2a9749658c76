import Errand
import ErrandFoundation

extension HTTPLog {
  /// Removes the oldest logs in a folder until at most `count` are left. Keeps logs that a program is still writing,
  /// and files not written by a log.
  static func removeOldest(in parent: URL, keeping count: Int) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent.path),
      let folder = try? PrivateFolder(parent)
    else { return }
    for name in names.filter(isFolder).sorted().dropLast(count) {
      remove(parent.appendingPathComponent(name))
      folder.removeFolder(name)
    }
  }

  /// Whether a folder with this name belongs to a log. The name consists of the time, the process ID and hex digits,
  /// such as `2026-11-24 07.44.49 4711 1B2C`.
  private static func isFolder(_ name: String) -> Bool {
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, words[3].utf8.count == 4 else { return false }
    let time = String(name.prefix(19).map { "0"..."9" ~= $0 ? "0" : $0 })
    return time == "0000-00-00 00.00.00" && !words[2].isEmpty && words[2].utf8.allSatisfy { (0x30...0x39).contains($0) }
      && words[3].utf8.allSatisfy { "0123456789ABCDEF".utf8.contains($0) }
  }

  /// Removes a log's files. Does not follow links.
  private static func remove(_ log: URL) {
    guard let folder = try? PrivateFolder(log, followsLinks: false), !folder.isHeld,
      let files = try? FileManager.default.contentsOfDirectory(atPath: log.path)
    else { return }
    for file in files where file == pageName || isText(file) { folder.remove(file) }
  }

  /// Whether a file with this name contains a call's text. The name begins with at least four digits, such as
  /// `0001. GET Widget.txt`.
  private static func isText(_ name: String) -> Bool {
    RecordingEntry.number(of: name).map { name.hasPrefix(RecordingEntry.padded($0) + ". ") } ?? false
  }
}
