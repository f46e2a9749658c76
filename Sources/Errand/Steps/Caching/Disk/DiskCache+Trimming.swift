import Dispatch
import ErrandFoundation

extension DiskCache {
  struct Trimming {
    /// The size of all files at the last count, or `nil` if they have never been counted.
    var counted: Int?
    var added = 0
    var isUnderWay = false

    /// Whether the cache may have exceeded the limit. Other processes can add files too.
    func isDue(_ limit: Int) -> Bool { counted.map { $0 + added > limit || added > limit / 8 } ?? true }
  }

  struct Found {
    let name: DiskName
    let size: Int
    let used: Int
  }

  // Counting reads 4,096 folders, so it must not block a call or a thread of the Swift concurrency pool.
  private static let queue = DispatchQueue(label: "errand.disk-cache", qos: .utility)

  /// Records the size of a new file and starts a recount if the cache may have exceeded its limit.
  func noteAdded(_ size: Int) {
    let begins = trimming.withLock { state in
      state.added += DiskFolder.inBlocks(size)
      guard !state.isUnderWay, state.isDue(sizeLimit) else { return false }
      state.isUnderWay = true
      return true
    }
    if begins { Self.queue.async { [self] in countWhileDue() } }
  }

  /// Counts the files and counts them again if the cache may have exceeded its limit in the meantime.
  private func countWhileDue() {
    var hasCounted = false
    repeat {
      hasCounted = count()
    } while trimming.withLock { state in
      state.isUnderWay = hasCounted && state.added > 0 && state.isDue(sizeLimit)
      return state.isUnderWay
    }
  }

  /// Immediately removes responses that exceed the limits, instead of shortly after the next response is stored.
  /// Returns the remaining size in bytes.
  @discardableResult
  public func trim() async -> Int {
    await answer { waiter in
      Self.queue.async { [self] in
        _ = count()
        waiter.resume(returning: trimming.withLock { $0.counted } ?? 0)
      }
      return nil
    }
  }

  /// Counts all files and removes responses that exceed a limit. Returns `false` if another process is already
  /// counting.
  private func count() -> Bool {
    folder.alone {
      trimming.withLock { $0.added = 0 }
      var found: [Found] = []
      for number in 0..<DiskFolder.shardCount {
        folder.withShard(DiskFolder.shard(UInt64(number) << 52)) { found += Self.files(in: $0) }
      }
      let total = found.reduce(0) { $0 + $1.size } - remove(from: found)
      trimming.withLock { $0.counted = total }
    }
  }

  /// Returns the files in a folder and removes files left behind by a crashed process.
  static func files(in shard: Int32) -> [Found] {
    let names = DiskFolder.names(in: shard)
    guard !names.isEmpty else { return [] }
    let entries = Set(names.filter { $0.kind == .entry })
    return names.compactMap { name in
      guard let status = DiskFolder.status(of: name.text, in: shard) else { return nil }
      switch name.kind {
      case .part, .headPart:
        if DiskFolder.removeLeftOver(name.text, in: shard) { return nil }
      case .head where !entries.contains(name.of(.entry)):
        DiskFolder.removeFile(name.text, in: shard)
        return nil
      case .head, .entry: break
      }
      return Found(name: name, size: status.size, used: status.used)
    }
  }

  /// Removes responses that are too old, then the least recently used ones. Returns the number of bytes freed.
  private func remove(from found: [Found]) -> Int {
    let heads = Dictionary(
      found.filter { $0.name.kind == .head }.map { ($0.name.of(.entry), $0.size) }, uniquingKeysWith: +)
    var total = found.reduce(0) { $0 + $1.size }
    var freed = 0
    let oldest = now().addingTimeInterval(-ageLimit.inSeconds).nanoseconds
    // Remove a little more than necessary. Otherwise, each new response would trigger a recount.
    let goal = total > sizeLimit ? sizeLimit - sizeLimit / 10 : sizeLimit
    for file in found.sorted(by: { $0.used < $1.used }) where file.name.kind == .entry {
      guard total > goal || file.used < oldest else { break }
      folder.withShard(DiskFolder.shard(file.name.url)) { removeFiles(file.name, in: $0) }
      let size = file.size + heads[file.name, default: 0]
      total -= size
      freed += size
    }
    return freed
  }
}
