#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// An in-memory file, deleted with the last reference.
  final class MemoryFile: Sendable {
    private let descriptor: Int32

    init?(_ content: Data) {
      descriptor = content.withUnsafeBytes { ccurl_memory_file($0.baseAddress, $0.count) }
      guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { Descriptor.release(descriptor) } }

    /// The path of the file. Valid in this process only.
    var path: String { "/proc/self/fd/\(descriptor)" }
  }
#endif
