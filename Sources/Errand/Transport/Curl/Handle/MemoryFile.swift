#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A file in memory, gone with the last reference.
  final class MemoryFile: Sendable {
    private let descriptor: Int32

    /// A file with this content; nil where there can be none.
    init?(_ content: Data) {
      descriptor = content.withUnsafeBytes { ccurl_memory_file($0.baseAddress, $0.count) }
      guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { Descriptor.release(descriptor) } }

    /// Its path, for this process.
    var path: String { "/proc/self/fd/\(descriptor)" }
  }
#endif
