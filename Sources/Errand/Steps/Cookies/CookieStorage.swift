import ErrandFoundation

/// The cookies of a jar, following the storage model of RFC 6265bis §5.7 and §5.8. Does no I/O.
struct CookieStorage {
  /// The maximum number of cookies. The least recently used cookies are removed first.
  struct Limits {
    var perDomain = 50
    var overall = 3000
  }

  /// The maximum size of the cookies sent with a request, in bytes. Without this limit, another host in the same domain
  /// could set so many cookies that every request fails, because servers and ``HTTPRequest/maximumHeadSize`` limit the
  /// header size.
  static let maximumHeaderSize = 32 << 10

  enum Change {
    case kept(Cookie)
    /// The cookie was removed. A cookie that another process sets after this time is kept.
    case removed(Date)
  }

  private let limits: Limits
  private var byDomain: [String: [Cookie]] = [:]
  /// The number of cookies, including expired cookies that have not been removed yet.
  private(set) var count = 0
  private var lastNumber = 0
  /// The changes that have not been written to the file yet. `nil` for an in-memory jar.
  private(set) var journal: [Cookie.ID: Change]?

  init(_ limits: Limits = Limits(), isJournaled: Bool = false) {
    self.limits = limits
    journal = isJournaled ? [:] : nil
  }

  var isEmpty: Bool { count == 0 }

  func cookies(at now: Date) -> [Cookie] {
    byDomain.values.joined().filter { !$0.hasExpired(at: now) }.sorted {
      $0.created == $1.created ? $0.number < $1.number : $0.created < $1.created
    }
  }

  // MARK: Storing

  /// Stores a cookie and replaces the existing one: steps 16, 23 and 24 of §5.7. An expired cookie removes the existing
  /// cookie. Returns `false` if the cookie is rejected because it would hide a secure cookie.
  mutating func keep(_ cookie: Cookie, from target: CookieTarget, now: Date) -> Bool {
    // Step 16: "leave secure cookies alone".
    if !cookie.isSecure, !target.isSecure, hidesSecure(cookie, target, now) { return false }
    var cookie = cookie
    if let old = remove(cookie.id, at: now), !old.hasExpired(at: now) {
      // Step 23: keep the creation time.
      (cookie.created, cookie.number) = (old.created, old.number)
    }
    guard !cookie.hasExpired(at: now) else {
      note(.removed(now), cookie.id)
      return true
    }
    if cookie.number == 0 {
      lastNumber += 1
      cookie.number = lastNumber
    }
    insert(cookie)
    note(.kept(cookie), cookie.id)
    evict(cookie.domain, now)
    return true
  }

  /// Whether a cookie would hide a secure cookie with the same name, an overlapping domain, and the same or a parent
  /// path.
  private func hidesSecure(_ cookie: Cookie, _ target: CookieTarget, _ now: Date) -> Bool {
    byDomain.contains { domain, cookies in
      (CookieTarget.isName(domain, in: cookie.domain) || CookieTarget.isName(cookie.domain, in: domain))
        && cookies.contains {
          $0.isSecure && $0.name == cookie.name && CookieTarget.isPath(cookie.path, below: $0.path)
            && !$0.hasExpired(at: now)
        }
    }
  }

  /// Removes a cookie and returns it. The next write also removes it from the file.
  @discardableResult
  mutating func remove(_ id: Cookie.ID, at now: Date) -> Cookie? {
    guard let index = byDomain[id.domain]?.firstIndex(where: { $0.id == id }) else { return nil }
    let cookie = byDomain[id.domain]?.remove(at: index)
    count -= 1
    if byDomain[id.domain]?.isEmpty ?? false { byDomain[id.domain] = nil }
    // Session cookies are not in the file.
    if cookie?.expiry != nil { note(.removed(now), id) }
    return cookie
  }

  private mutating func insert(_ cookie: Cookie) {
    byDomain[cookie.domain, default: []].append(cookie)
    count += 1
  }

  private mutating func note(_ change: Change, _ id: Cookie.ID) {
    guard journal != nil else { return }
    if case .kept(let cookie) = change, cookie.expiry == nil { return }
    journal?[id] = change
    // Limit the journal. If the file can't be written for this long, removed cookies can reappear.
    if journal?.count ?? 0 > 2 * limits.overall { journal = journal?.filter { !$0.value.isRemoval } }
  }

  // MARK: Limits

  // §5.7: remove expired cookies first, then the least recently used ones. In a domain with too many cookies, remove
  // insecure cookies before secure ones.
  private mutating func evict(_ domain: String, _ now: Date) {
    if byDomain[domain].map({ $0.count > limits.perDomain }) ?? false {
      removeExpired(of: domain, now)
      while let cookies = byDomain[domain], cookies.count > limits.perDomain {
        let open = cookies.filter { !$0.isSecure }
        remove(Self.leastUsed(open.isEmpty ? cookies : open), at: now)
      }
    }
    guard count > limits.overall else { return }
    for domain in byDomain.keys { removeExpired(of: domain, now) }
    while count > limits.overall { remove(Self.leastUsed(byDomain.values.joined()), at: now) }
  }

  private mutating func remove(_ cookie: Cookie?, at now: Date) {
    if let cookie { remove(cookie.id, at: now) }
  }

  private mutating func removeExpired(of domain: String, _ now: Date) {
    for cookie in byDomain[domain] ?? [] where cookie.hasExpired(at: now) { remove(cookie.id, at: now) }
  }

  private static func leastUsed(_ cookies: some Sequence<Cookie>) -> Cookie? {
    cookies.min { $0.accessed == $1.accessed ? $0.number < $1.number : $0.accessed < $1.accessed }
  }

  // MARK: Retrieving

  /// Returns the cookies for a request in the order in which they are sent (§5.8.3) and marks them as used.
  mutating func cookies(for target: CookieTarget, isSafe: Bool, isSameSite: Bool, now: Date) -> [Cookie] {
    var found: [Cookie] = []
    for domain in target.domains {
      guard let place = byDomain.index(forKey: String(domain)) else { continue }
      var hasExpired = false
      for index in byDomain.values[place].indices {
        let cookie = byDomain.values[place][index]
        if cookie.hasExpired(at: now) {
          hasExpired = true
        } else if Self.goes(cookie, to: target, isSafe: isSafe, isSameSite: isSameSite) {
          byDomain.values[place][index].accessed = now
          found.append(cookie)
        }
      }
      if hasExpired { removeExpired(of: String(domain), now) }
    }
    if found.count > 1 { found.sort(by: Self.isSentBefore) }
    return Self.fitting(found)
  }

  private static func goes(_ cookie: Cookie, to target: CookieTarget, isSafe: Bool, isSameSite: Bool) -> Bool {
    guard cookie.isHostOnly ? cookie.domain == target.host : target.matches(domain: cookie.domain),
      CookieTarget.isPath(target.path, below: cookie.path), !cookie.isSecure || target.isSecure
    else { return false }
    switch cookie.sameSite {
    case SameSite.none?: return true
    case .strict: return isSameSite
    // Step 1: send "Lax" and "Default" cookies cross-site if the method is safe, because a call counts as a navigation.
    case .lax, nil: return isSameSite || isSafe
    }
  }

  // Step 2: longer paths first, then earlier creation times.
  private static func isSentBefore(_ left: Cookie, _ right: Cookie) -> Bool {
    let lengths = (left.path.utf8.count, right.path.utf8.count)
    if lengths.0 != lengths.1 { return lengths.0 > lengths.1 }
    return left.created == right.created ? left.number < right.number : left.created < right.created
  }

  private static func fitting(_ cookies: [Cookie]) -> [Cookie] {
    var size = 0
    return cookies.filter { cookie in
      let more = size + cookie.name.utf8.count + cookie.value.utf8.count + 3
      guard more <= maximumHeaderSize else { return false }
      size = more
      return true
    }
  }
}

// MARK: A file

extension CookieStorage {
  mutating func takeJournal() -> [Cookie.ID: Change] {
    defer { if journal != nil { journal = [:] } }
    return journal ?? [:]
  }

  /// Restores changes that could not be written. Later changes take precedence.
  mutating func putBack(_ changes: [Cookie.ID: Change]) { journal?.merge(changes) { later, _ in later } }

  /// Replaces the jar's cookies with those in the file, except cookies that have changed since the file was read.
  /// Session cookies are kept.
  mutating func adopt(_ stored: [Cookie], now: Date) {
    let changes = takeJournal()
    let known = Dictionary(byDomain.values.joined().map { ($0.id, $0) }) { first, _ in first }
    for cookie in known.values where cookie.expiry != nil && changes[cookie.id] == nil { remove(cookie.id, at: now) }
    for cookie in stored where changes[cookie.id] == nil && !cookie.hasExpired(at: now) {
      if let mine = known[cookie.id], mine.expiry == nil { continue }
      var cookie = cookie
      lastNumber += 1
      cookie.number = known[cookie.id]?.number ?? lastNumber
      cookie.accessed = max(cookie.accessed, known[cookie.id]?.accessed ?? cookie.accessed)
      insert(cookie)
    }
    if journal != nil { journal = changes }
    for domain in Array(byDomain.keys) { evict(domain, now) }
  }

  static func merged(_ stored: [Cookie], _ changes: [Cookie.ID: Change], now: Date) -> [Cookie] {
    var cookies = stored.filter { cookie in
      switch changes[cookie.id] {
      case nil: true
      // Another process may have stored a newer cookie while this change was pending.
      case .kept(let mine): cookie.wasSet(after: mine.set, now: now)
      case .removed(let time): cookie.wasSet(after: time, now: now)
      }
    }
    let later = Set(cookies.map(\.id))
    for case .kept(let cookie) in changes.values.sorted(by: { $0.number < $1.number }) where !later.contains(cookie.id)
    {
      cookies.append(cookie)
    }
    return cookies.filter { !$0.hasExpired(at: now) }.sorted { $0.created < $1.created }
  }
}

extension CookieStorage.Change {
  fileprivate var isRemoval: Bool {
    if case .removed = self { true } else { false }
  }

  fileprivate var number: Int {
    if case .kept(let cookie) = self { return cookie.number }
    return 0
  }
}
