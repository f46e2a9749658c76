import ErrandFoundation

extension HTTPLog {
  /// Removes the oldest logs of a folder, until there are no more than `count`. One that a program writes stays, and so does what is no log's own.
  static func removeOldest(in parent: URL, keeping count: Int) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent.path),
      let folder = try? PrivateFolder(parent)
    else { return }
    for name in names.filter(isFolder).sorted().dropLast(count) {
      remove(parent.appendingPathComponent(name))
      folder.removeFolder(name)
    }
  }

  /// True for the name of a log's folder, which begins with its time: `2026-11-24 07.44.49 4711 1B2C`.
  private static func isFolder(_ name: String) -> Bool {
    String(name.prefix(20).map { "0"..."9" ~= $0 ? "0" : $0 }) == "0000-00-00 00.00.00 "
  }

  /// Removes what a log has written.
  private static func remove(_ log: URL) {
    guard let folder = try? PrivateFolder(log), !folder.isHeld,
      let files = try? FileManager.default.contentsOfDirectory(atPath: log.path)
    else { return }
    for file in files where file == pageName || file.hasSuffix(".txt") { folder.remove(file) }
  }
}
