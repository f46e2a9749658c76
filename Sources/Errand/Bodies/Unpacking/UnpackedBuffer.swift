#if os(Linux)
  import ErrandFoundation

  /// Memory that is filled bit by bit and then handed over as it is, without a copy.
  final class UnpackedBuffer {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private(set) var count = 0

    deinit { free(memory) }

    /// The part that is not filled yet.
    var room: UnsafeMutableRawBufferPointer {
      UnsafeMutableRawBufferPointer(start: memory.map { $0 + count }, count: capacity - count)
    }

    /// Notes that so many bytes of the room were filled.
    func filled(_ count: Int) { self.count += count }

    /// Makes it as large as that; what is filled stays.
    /// Throws ``TaskError`` where there is no memory.
    func resize(to capacity: Int) throws(TaskError) {
      guard capacity > 0, let memory = realloc(memory, capacity) else {
        throw TaskError(.internal, "no memory for \(capacity) bytes of the body", phase: .receiving)
      }
      self.memory = memory
      self.capacity = capacity
    }

    /// Below it a copy costs less than other memory for what comes next.
    private static let worthwhile = 32 << 10

    /// Hands over what is filled, and begins anew.
    func take() -> Data {
      guard let memory, count > 0 else { return Data() }
      defer { count = 0 }
      guard count > min(Self.worthwhile, capacity / 2) else { return Data(bytes: memory, count: count) }
      // Shrinking does not fail; if it did, the memory would be as it was.
      let exact = capacity - count > 4096 ? realloc(memory, count) ?? memory : memory
      self.memory = nil
      capacity = 0
      return Data(bytesNoCopy: exact, count: count, deallocator: .free)
    }
  }
#endif
