import Dispatch
import ErrandFoundation

extension DiskCache {
  /// The size of the folder as far as it is known.
  struct Trimming {
    /// The size of all files when they were counted last; nil where they never were.
    var counted: Int?
    /// The bytes that were added since.
    var added = 0
    var isUnderWay = false

    /// True where the files may be beyond a limit; other processes add to them too.
    func isDue(_ limit: Int) -> Bool { counted.map { $0 + added > limit || added > limit / 8 } ?? true }
  }

  /// A file as a count found it.
  struct Found {
    let name: DiskName
    let size: Int
    let used: Int
  }

  // A count reads 4,096 folders: no call waits for it, and none of Swift's few threads is held by it.
  private static let queue = DispatchQueue(label: "errand.disk-cache", qos: .utility)

  /// Counts the bytes of a file that was added, and all files where these may be beyond the limit.
  func noteAdded(_ size: Int) {
    let begins = trimming.withLock { state in
      state.added += DiskFolder.inBlocks(size)
      guard !state.isUnderWay, state.isDue(sizeLimit) else { return false }
      state.isUnderWay = true
      return true
    }
    if begins { Self.queue.async { [self] in countWhileDue() } }
  }

  /// Counts once, and again where enough was added meanwhile.
  private func countWhileDue() {
    var hasCounted = false
    repeat {
      hasCounted = count()
    } while trimming.withLock { state in
      state.isUnderWay = hasCounted && state.added > 0 && state.isDue(sizeLimit)
      return state.isUnderWay
    }
  }

  /// Removes now what is beyond the limits, which otherwise happens shortly after something was stored. Returns the bytes
  /// that the files take afterwards.
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

  /// Counts all files, and removes those beyond a limit. False where another process does so already.
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

  /// The files in a folder; what was left behind by a process that died is removed.
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

  /// Removes what is too old, and then what was not used for the longest time; returns the bytes that became free.
  private func remove(from found: [Found]) -> Int {
    let heads = Dictionary(
      found.filter { $0.name.kind == .head }.map { ($0.name.of(.entry), $0.size) }, uniquingKeysWith: +)
    var total = found.reduce(0) { $0 + $1.size }
    var freed = 0
    let oldest = now().addingTimeInterval(-ageLimit.inSeconds).nanoseconds
    // Somewhat more than needed, so that not every response that is stored from now on has all files counted.
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
