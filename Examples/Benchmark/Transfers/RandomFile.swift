import Errand
import ErrandFoundation
import ErrandTesting

/// Large files without repeated content.
enum RandomFile {
  /// Writes a file that every user can read, because a server may run as another user.
  static func write(_ size: Int, to file: URL) throws {
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(descriptor) }
    var random = SeededGenerator(seed: 7)
    for _ in stride(from: 0, to: size, by: 1 << 20) {
      var chunk = Data(capacity: 1 << 20)
      for _ in 0..<(1 << 17) { withUnsafeBytes(of: random.next()) { chunk.append(contentsOf: $0) } }
      guard Descriptor.put(chunk, into: descriptor) else { throw BenchError("can't write \(size) bytes") }
    }
  }

  /// Whether two files have the same content.
  static func isSame(_ one: URL, _ other: URL) throws -> Bool {
    let descriptors = [one, other].map { open($0.path, O_RDONLY) }
    defer { for descriptor in descriptors { close(descriptor) } }
    var buffers = [[UInt8]](repeating: [UInt8](repeating: 0, count: 4 << 20), count: 2)
    while true {
      let counts = (0..<2).map { read(descriptors[$0], &buffers[$0], 4 << 20) }
      guard counts[0] == counts[1], counts[0] >= 0, buffers[0] == buffers[1] else { return false }
      if counts[0] == 0 { return true }
    }
  }
}
