import ErrandFoundation

/// Stores entries by key. If their total size exceeds a limit, removes the least recently used entries. Does no I/O.
struct LRUStore {
  private struct Slot {
    var key: CacheKey
    var entry: CacheEntry
    var size: Int
    /// The next older and newer slots, or -1 at the ends of the list.
    var older = -1
    var newer = -1
  }

  let limit: Int
  private(set) var bytes = 0
  private var slots: [Slot?] = []
  private var free: [Int] = []
  private var oldest = -1
  private var newest = -1
  private var byKey: [CacheKey: [Int]] = [:]
  private var byURL: [String: Set<CacheKey>] = [:]
  private var lastID = 0

  init(limit: Int) { self.limit = limit }

  var count: Int { slots.count - free.count }

  /// Returns the entries under a key and marks them as used.
  mutating func entries(for key: CacheKey) -> [CacheEntry] {
    guard let found = byKey[key] else { return [] }
    for index in found where index != newest {
      detach(index)
      attach(index)
    }
    return found.compactMap { slots[$0]?.entry }
  }

  /// Adds a response and replaces superseded responses. Returns the removed entries, which the caller must release
  /// outside of any lock.
  mutating func insert(_ response: StoredResponse, _ body: Data, for key: CacheKey) -> [CacheEntry] {
    var dropped = removeSuperseded(by: response, for: key)
    lastID += 1
    let entry = CacheEntry(id: "\(lastID)", response, body: body)
    let size = Self.size(of: response, key) + body.count
    guard size <= limit else { return dropped }
    if let variants = byKey[key], variants.count >= StoredResponse.mostVariants {
      func time(_ index: Int) -> Date { slots[index]?.entry.response.responseTime ?? .distantPast }
      let oldest = variants.sorted { time($0) < time($1) }.prefix(variants.count - StoredResponse.mostVariants + 1)
      dropped += oldest.compactMap { slots[$0]?.entry }
      for index in oldest { drop(index) }
    }
    add(Slot(key: key, entry: entry, size: size))
    dropped += dropLeastUsed()
    return dropped
  }

  private mutating func dropLeastUsed() -> [CacheEntry] {
    var dropped: [CacheEntry] = []
    while bytes > limit, oldest >= 0, let last = slots[oldest]?.entry {
      dropped.append(last)
      drop(oldest)
    }
    return dropped
  }

  /// Replaces the response of an entry, if the entry exists. Returns entries that were removed to make room for a
  /// larger header.
  mutating func update(_ id: String, to response: StoredResponse, for key: CacheKey) -> [CacheEntry] {
    guard let index = index(of: id, key), let slot = slots[index], case .bytes(let body) = slot.entry.body else {
      return []
    }
    let size = Self.size(of: response, key) + body.count
    bytes += size - slot.size
    slots[index]?.entry = CacheEntry(id: id, response, body: body)
    slots[index]?.size = size
    return dropLeastUsed()
  }

  mutating func remove(_ id: String, for key: CacheKey) {
    if let index = index(of: id, key) { drop(index) }
  }

  mutating func removeAll(for url: String) {
    for key in byURL[url] ?? [] { for index in byKey[key] ?? [] { drop(index) } }
  }

  private mutating func removeSuperseded(by response: StoredResponse, for key: CacheKey) -> [CacheEntry] {
    let old = (byKey[key] ?? []).filter { slots[$0].map { response.supersedes($0.entry.response) } ?? false }
    let entries = old.compactMap { slots[$0]?.entry }
    for index in old { drop(index) }
    return entries
  }

  private func index(of id: String, _ key: CacheKey) -> Int? { byKey[key]?.first { slots[$0]?.entry.id == id } }

  /// Returns the approximate size of an entry without its body.
  private static func size(of response: StoredResponse, _ key: CacheKey) -> Int {
    500 + 2 * key.url.utf8.count + response.headers.reduce(0) { $0 + 80 + $1.size }
  }

  // MARK: Linked list, from the least to the most recently used slot

  private mutating func add(_ slot: Slot) {
    let index = free.popLast() ?? slots.count
    if index == slots.count { slots.append(slot) } else { slots[index] = slot }
    bytes += slot.size
    byKey[slot.key, default: []].append(index)
    byURL[slot.key.url, default: []].insert(slot.key)
    attach(index)
  }

  private mutating func drop(_ index: Int) {
    guard let slot = slots[index] else { return }
    detach(index)
    slots[index] = nil
    free.append(index)
    bytes -= slot.size
    byKey[slot.key]?.removeAll { $0 == index }
    guard byKey[slot.key]?.isEmpty ?? true else { return }
    byKey[slot.key] = nil
    byURL[slot.key.url]?.remove(slot.key)
    if byURL[slot.key.url]?.isEmpty ?? false { byURL[slot.key.url] = nil }
  }

  private mutating func attach(_ index: Int) {
    slots[index]?.older = newest
    slots[index]?.newer = -1
    if newest >= 0 { slots[newest]?.newer = index } else { oldest = index }
    newest = index
  }

  private mutating func detach(_ index: Int) {
    guard let slot = slots[index] else { return }
    if slot.older >= 0 { slots[slot.older]?.newer = slot.newer } else { oldest = slot.newer }
    if slot.newer >= 0 { slots[slot.newer]?.older = slot.older } else { newest = slot.older }
  }
}
