public import ErrandFoundation

/// A cache in a folder. The cache survives restarts, and several processes can share it.
///
///     let cache = try DiskCache(at: folder, sizeLimit: 1 << 30)
///     await shop.update { $0.cache = cache }
///
/// Only the current user can access the folder and its files (modes 0700 and 0600). A file gets its final name when it
/// is complete, and every byte is verified before it is used. Incomplete, damaged and foreign files are ignored and
/// removed. Opening the cache doesn't read any files. The cache stores hashes of credentials and URLs instead of their
/// text, but responses are stored as received.
public final class DiskCache: CacheStore {
  /// The maximum disk space used by the cache's files, in bytes. File sizes are rounded up to disk blocks. Above this
  /// limit, the least recently used responses are removed. The folders, of which there are at most 4,096, are not
  /// counted.
  public let sizeLimit: Int
  /// How long a response is kept after it was received or last validated.
  public let ageLimit: Duration
  let folder: DiskFolder
  let now: @Sendable () -> Date
  let trimming = Lock(Trimming())

  /// Opens a cache in a folder, which is created if necessary.
  ///
  /// - Parameters:
  ///   - folder: A folder that contains nothing else.
  ///   - sizeLimit: The maximum disk space in bytes. Defaults to 256 MiB. A body larger than an eighth of the limit is
  ///     not stored.
  ///   - ageLimit: How long a response is kept after it was received or last validated. Defaults to 90 days.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` if the folder can't be created or belongs to another user.
  public convenience init(
    at folder: URL, sizeLimit: Int = 256 << 20, ageLimit: Duration = .seconds(90 * 86_400)
  ) throws {
    try self.init(at: folder, sizeLimit: sizeLimit, ageLimit: ageLimit) { Date() }
  }

  package init(at folder: URL, sizeLimit: Int, ageLimit: Duration, now: @escaping @Sendable () -> Date) throws {
    self.folder = try DiskFolder(folder)
    self.sizeLimit = max(0, sizeLimit)
    self.ageLimit = max(.zero, ageLimit)
    self.now = now
  }

  var largestBody: Int { sizeLimit / 8 }

  // MARK: Finding

  /// Returns the responses stored under a key.
  public func entries(for key: CacheKey) async -> [CacheEntry] {
    let wanted = DiskName(key, number: 0)
    let key = DiskHead.hashed(key)
    return folder.withShard(DiskFolder.shard(wanted.url)) { shard in
      let names = DiskFolder.names(in: shard).filter { $0.isOf(wanted) }
      return names.filter { $0.kind == .entry }.compactMap { name in
        entry(name, of: key, in: shard, hasHead: names.contains(name.of(.head)))
      }
    } ?? []
  }

  /// Reads an entry. If the entry is invalid or too old, removes its file and returns `nil`.
  private func entry(_ name: DiskName, of key: CacheKey, in shard: Int32, hasHead: Bool) -> CacheEntry? {
    guard let (file, size) = DiskFolder.openFile(name.text, in: shard) else { return nil }
    var keepsFile = false
    defer { if !keepsFile { close(file) } }
    guard let (layout, stored, start) = Self.head(of: file, size: size), layout.fileSize == size, stored.key == key
    else {
      removeFiles(name, in: shard)
      return nil
    }
    let response = (hasHead ? updatedHead(name, key, in: shard) : nil) ?? stored.response
    guard response.terms.responseTime.addingTimeInterval(ageLimit.inSeconds) > now() else {
      removeFiles(name, in: shard)
      return nil
    }
    DiskFolder.touch(name.text, in: shard, at: now())
    if layout.frameCount <= 1 {
      guard let body = smallBody(layout, start, file) else {
        removeFiles(name, in: shard)
        return nil
      }
      return CacheEntry(id: name.text, response, body: body)
    }
    // Keep the file open, so that its body can still be read if the file is removed.
    keepsFile = true
    return CacheEntry(id: name.text, response, length: layout.bodyLength, open: reading(file, layout, name))
  }

  private func smallBody(_ layout: DiskLayout, _ start: Data, _ file: Int32) -> Data? {
    guard layout.bodyLength > 0 else { return Data() }
    let offset = layout.offset(ofFrame: 0)
    if start.count == layout.fileSize { return DiskLayout.checked(start.dropFirst(offset), number: 0) }
    return try? DiskBody.frame(0, of: file, layout)  // treat a damaged file as missing
  }

  /// Returns a closure that opens bodies from an open file. Each body has its own descriptor. The file is closed with
  /// the last one.
  private func reading(
    _ file: Int32, _ layout: DiskLayout, _ name: DiskName
  ) -> @Sendable (Range<Int>) throws -> any HTTPBodySource {
    let opened = OpenFile(file)
    return { [self] range in
      DiskBody(try opened.copy(), layout, range) { [self] in
        try? withShard(of: name) { removeFiles(name, in: $0) }  // the folder may no longer exist
      }
    }
  }

  /// Returns a cache file's header and the bytes read so far, or `nil` if the header is invalid.
  private static func head(of file: Int32, size: Int) -> (DiskLayout, DiskHead, Data)? {
    guard let start = DiskFolder.readFile(file, at: 0, count: min(size, 8 << 10)), let layout = DiskLayout(start) else {
      return nil
    }
    let rest = DiskLayout.size..<(DiskLayout.size + layout.headLength)
    guard rest.upperBound <= size else { return nil }
    let bytes =
      start.count >= rest.upperBound
      ? start[rest] : DiskFolder.readFile(file, at: rest.lowerBound, count: layout.headLength) ?? Data()
    guard layout.isSound(head: bytes), let head = DiskHead(bytes) else { return nil }
    return (layout, head, start)
  }

  /// Returns the header from the last validation, if any. If the file is damaged, removes it and returns `nil`.
  private func updatedHead(_ name: DiskName, _ key: CacheKey, in shard: Int32) -> StoredResponse? {
    guard let (file, size) = DiskFolder.openFile(name.of(.head).text, in: shard) else { return nil }
    defer { close(file) }
    guard let (layout, head, _) = Self.head(of: file, size: size), layout.fileSize == size, head.key == key else {
      DiskFolder.removeFile(name.of(.head).text, in: shard)
      return nil
    }
    return head.response
  }

  // MARK: Storing

  /// Starts storing a response.
  public func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
    guard (response.statedLength ?? 0) <= largestBody else { throw MemoryCache.TooLarge() }
    return try DiskWriter(self, DiskHead(key, response), DiskName(key, number: .random(in: 0 ... .max)))
  }

  /// Replaces the header of a stored response. The body is not rewritten.
  public func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {
    guard let name = entry.id.withCString({ DiskName($0) }) else { return }
    let head = DiskHead(key, response).bytes
    try withShard(of: name) { shard in
      // Use a unique name, because other calls or processes can validate the same response concurrently.
      let part = DiskName(key, number: .random(in: 0 ... .max)).of(.headPart).text
      let file = try DiskFolder.create(part, in: shard)
      defer { close(file) }
      do {
        try DiskFolder.writeFile(DiskLayout(head: head, bodyLength: 0).bytes + head, to: file, at: 0)
        try DiskFolder.renameFile(part, to: name.of(.head).text, in: shard)
      } catch {
        DiskFolder.removeFile(part, in: shard)
        throw error
      }
      // If the response was removed in the meantime, don't leave its header behind.
      if DiskFolder.status(of: name.text, in: shard) == nil { DiskFolder.removeFile(name.of(.head).text, in: shard) }
    }
    noteAdded(head.count)
  }

  /// Removes superseded responses, and the least recently used variants if there are too many. If two responses are
  /// stored concurrently, only one is kept.
  func removeSuperseded(by head: DiskHead, _ own: DiskName, in shard: Int32) {
    var variants: [(name: DiskName, used: Int, time: Date)] = []
    for name in DiskFolder.names(in: shard) where name.isOf(own) && name.kind == .entry && name != own {
      guard let (file, size) = DiskFolder.openFile(name.text, in: shard) else { continue }
      defer { close(file) }
      guard let (_, old, _) = Self.head(of: file, size: size), old.key == head.key else { continue }
      let (oldTime, time) = (old.response.responseTime, head.response.responseTime)
      let isOlder = (oldTime, name.number) < (time, own.number) || CacheTerms.isFromFuture(oldTime, now: time)
      if isOlder, head.response.supersedes(old.response) {
        removeFiles(name, in: shard)
      } else {
        let used = DiskFolder.status(of: name.text, in: shard)?.used ?? 0
        variants.append((name, used, old.response.responseTime))
      }
    }
    let excess = variants.count - StoredResponse.mostVariants + 1
    guard excess > 0 else { return }
    let byUse = variants.sorted { ($0.used, $0.time) < ($1.used, $1.time) }
    for variant in byUse.prefix(excess) { removeFiles(variant.name, in: shard) }
  }

  // MARK: Removing

  /// Removes a stored response.
  public func remove(_ entry: CacheEntry, for key: CacheKey) async {
    guard let name = entry.id.withCString({ DiskName($0) }) else { return }
    folder.withShard(DiskFolder.shard(name.url)) { removeFiles(name, in: $0) }
  }

  /// Removes all responses for a URL.
  public func removeAll(for url: String) async {
    let hash = DiskName.hash(ofURL: url)
    folder.withShard(DiskFolder.shard(hash)) { shard in
      for name in DiskFolder.names(in: shard) where name.url == hash && name.kind != .part {
        DiskFolder.removeFile(name.text, in: shard)
      }
    }
  }

  /// Removes everything that the cache has stored.
  public func removeAll() async {
    for number in 0..<DiskFolder.shardCount {
      folder.withShard(DiskFolder.shard(UInt64(number) << 52)) { shard in
        for name in DiskFolder.names(in: shard) where name.kind != .part { DiskFolder.removeFile(name.text, in: shard) }
      }
    }
    trimming.withLock { $0 = Trimming(isUnderWay: $0.isUnderWay) }
  }

  func removeFiles(_ name: DiskName, in shard: Int32) {
    DiskFolder.removeFile(name.of(.head).text, in: shard)
    DiskFolder.removeFile(name.text, in: shard)
  }

  /// Calls `body` with the folder for a name. Throws an error if the folder does not exist.
  func withShard<Result>(of name: DiskName, making: Bool = false, _ body: (Int32) throws -> Result) throws -> Result {
    guard let result = try folder.withShard(DiskFolder.shard(name.url), making: making, body) else {
      throw TaskError(
        .fileNotWritable, "can't store a response: the cache folder no longer exists", phase: .finishing)
    }
    return result
  }
}
