import ErrandFoundation

/// Writes a response to a temporary file and renames the file when the response is complete.
final class DiskWriter: CacheWriter {
  private struct State {
    /// The first bytes of the next frame.
    var rest = Data()
    var length = 0
    var frames = 0
    var hasEnded = false
  }

  private let cache: DiskCache
  private let head: DiskHead
  private let headBytes: Data
  private let name: DiskName
  private let file: Int32
  private let state = Lock(State())

  init(_ cache: DiskCache, _ head: DiskHead, _ name: DiskName) throws {
    self.cache = cache
    self.head = head
    self.name = name
    headBytes = head.bytes
    guard headBytes.count <= DiskLayout.largestHead else { throw MemoryCache.TooLarge() }
    file = try cache.withShard(of: name, making: true) { try DiskFolder.create(name.of(.part).text, in: $0) }
  }

  deinit { discard() }

  func write(_ data: Data) async throws {
    try state.withLock { state in
      guard !state.hasEnded, state.length + data.count <= cache.largestBody else { throw MemoryCache.TooLarge() }
      state.length += data.count
      var data = data
      if !state.rest.isEmpty {
        let missing = data.prefix(DiskLayout.frameSize - state.rest.count)
        state.rest.append(missing)
        data = data.dropFirst(missing.count)
        guard state.rest.count == DiskLayout.frameSize else { return }
        try writeFrame(state.rest, &state)
        state.rest = Data()
      }
      while data.count >= DiskLayout.frameSize {
        try writeFrame(data.prefix(DiskLayout.frameSize), &state)
        data = data.dropFirst(DiskLayout.frameSize)
      }
      state.rest.append(data)
    }
  }

  private func writeFrame(_ bytes: Data, _ state: inout State) throws {
    let offset = DiskLayout(head: headBytes, bodyLength: 0).offset(ofFrame: state.frames)
    try DiskFolder.writeFile(DiskLayout.frame(bytes, number: state.frames), to: file, at: offset)
    state.frames += 1
  }

  func commit() async throws {
    let size = try state.withLock { state in
      guard !state.hasEnded else { throw MemoryCache.TooLarge() }
      if !state.rest.isEmpty { try writeFrame(state.rest, &state) }
      let layout = DiskLayout(head: headBytes, bodyLength: state.length)
      try DiskFolder.writeFile(layout.bytes + headBytes, to: file, at: 0)
      state.hasEnded = true
      return layout.fileSize
    }
    defer { close(file) }
    try cache.withShard(of: name) { shard in
      DiskFolder.touch(name.of(.part).text, in: shard, at: cache.now())
      do {
        try DiskFolder.renameFile(name.of(.part).text, to: name.text, in: shard)
      } catch {
        DiskFolder.removeFile(name.of(.part).text, in: shard)
        throw error
      }
      cache.removeSuperseded(by: head, name, in: shard)
    }
    cache.noteAdded(size)
  }

  func discard() {
    let hasEnded = state.withLock { state in
      defer { state = State(hasEnded: true) }
      return state.hasEnded
    }
    guard !hasEnded else { return }
    // The folder may no longer exist.
    try? cache.withShard(of: name) { DiskFolder.removeFile(name.of(.part).text, in: $0) }
    close(file)
  }
}
