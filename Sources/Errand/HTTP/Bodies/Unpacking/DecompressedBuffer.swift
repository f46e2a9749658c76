#if os(Linux)
  import ErrandFoundation

  /// A growing buffer that hands over its content without copying.
  final class DecompressedBuffer {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private(set) var count = 0

    deinit { free(memory) }

    var room: UnsafeMutableRawBufferPointer {
      UnsafeMutableRawBufferPointer(start: memory.map { $0 + count }, count: capacity - count)
    }

    func filled(_ count: Int) { self.count += count }

    func resize(to capacity: Int) throws(TaskError) {
      guard capacity > 0, let memory = realloc(memory, capacity) else {
        throw TaskError(.internal, "not enough memory for \(capacity) bytes of the body", phase: .receiving)
      }
      self.memory = memory
      self.capacity = capacity
    }

    /// The size below which copying is cheaper than allocating a new buffer.
    private static let worthwhile = 32 << 10

    func take() -> Data {
      guard let memory, count > 0 else { return Data() }
      defer { count = 0 }
      guard count > min(Self.worthwhile, capacity / 2) else { return Data(bytes: memory, count: count) }
      // Shrinking does not fail; if it did, the memory would still be valid.
      let exact = capacity - count > 4096 ? realloc(memory, count) ?? memory : memory
      self.memory = nil
      capacity = 0
      return Data(bytesNoCopy: exact, count: count, deallocator: .free)
    }
  }
#endif
