public import ErrandFoundation

/// The cookies that servers have set, by the rules of RFC 6265bis.
///
///     let jar = try CookieJar(file: support.appendingPathComponent("cookies.json"))
///     await shop.update { $0.cookiePolicy = .shared(jar) }
///
/// Every server has one of its own in memory; see ``CookiePolicy``. At most 50 cookies of a domain are kept and 3,000 in all,
/// none for longer than 400 days. A jar may be shared by servers that trust each other. Its description shows no values.
public final class CookieJar: Sendable, CustomStringConvertible, CustomReflectable {
  private let shelf: Lock<CookieShelf>
  /// The removals that the file has not seen yet: it may have cookies of other processes.
  private let removals = Lock<[Removal]>([])
  private let dates: DatedClock
  private let store: CookieStore?

  private struct Removal: Sendable {
    let time: Date
    let isUnwanted: @Sendable (Cookie) -> Bool

    /// True for a cookie that was there then.
    func takes(_ cookie: Cookie, now: Date) -> Bool { isUnwanted(cookie) && !cookie.wasSet(after: time, now: now) }
  }

  /// The most removals that wait for the file; more than that are not made while it cannot be written.
  private static let mostRemovals = 10_000

  /// A jar of the process, for servers that are to share one.
  public static let shared = CookieJar()

  /// An empty jar in memory.
  ///
  /// - Parameter clock: The clock by which cookies expire.
  public init(clock: CallClock = .continuous) {
    dates = DatedClock(clock)
    shelf = Lock(CookieShelf())
    store = nil
  }

  /// A jar whose cookies are kept in a file, those that have no expiry excepted.
  ///
  /// The file is 0600, and written aside and renamed: a crash leaves the old one or the new one. It is written soon after a
  /// change, on a thread that no call waits for; ``synchronize()`` waits. Several jars, also of other processes, may have the
  /// same file: each adds its changes to it, and sees those of the others when it writes.
  ///
  /// - Parameters:
  ///   - file: The file; its folder is made if it is not there, for this user alone. A folder of another user, or one that
  ///     everybody may write to, is refused.
  ///   - clock: The clock by which cookies expire.
  ///   - log: Where a failure to write is told, once until writing succeeds again.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder or the file cannot be used, or the file has something
  ///   else than cookies.
  public init(file: URL, clock: CallClock = .continuous, log: TextSink = .standardError) throws {
    dates = DatedClock(clock)
    let store = CookieStore(CookieFile(url: file), log)
    var shelf = CookieShelf(isJournaled: true)
    shelf.adopt(try store.open(), now: dates.now)
    self.shelf = Lock(shelf)
    self.store = store
  }

  // MARK: Cookies

  /// The cookies that have not expired, in the order in which they came.
  public var cookies: [Cookie] {
    let now = dates.now
    return shelf.withLock { $0.cookies(at: now) }
  }

  /// The cookies that a GET of a URL would send, in their order.
  public func cookies(for url: URL) -> [Cookie] {
    guard let target = CookieTarget(url) else { return [] }
    let now = dates.now
    return shelf.withLock { $0.cookies(for: target, isSafe: true, isSameSite: true, now: now) }
  }

  /// Keeps a cookie as if the server of a URL had set it: `session=abc; Path=/; Secure`.
  ///
  /// A cookie that has expired, as with `Max-Age=0`, removes the one that it replaces.
  ///
  /// Throws ``TaskError`` with code `.badRequest` for one that that server may not set.
  public func set(_ setCookie: String, from url: URL) throws {
    do throws(CookieRefusal) {
      guard let target = CookieTarget(url) else { throw .noURL }
      try keep(setCookie, from: target)
    } catch {
      throw TaskError(
        .badRequest, "the cookie from '\(Redaction.standard(url).shortened)' is not kept: \(error.rawValue)",
        phase: .preparing, underlying: error)
    }
    store?.save(self)
  }

  /// Removes the cookies for which `isUnwanted` holds, those in the jar's file too; it must be quick, and not use the jar.
  public func removeAll(where isUnwanted: @escaping @Sendable (Cookie) -> Bool = { _ in true }) {
    let unwanted = cookies.filter(isUnwanted).map(\.id)
    let now = dates.now
    if store != nil {
      removals.withLock { $0 = $0.suffix(Self.mostRemovals - 1) + [Removal(time: now, isUnwanted: isUnwanted)] }
    }
    shelf.withLock { shelf in
      for id in unwanted { shelf.remove(id, at: now) }
    }
    store?.save(self)
  }

  /// Writes what has changed to the file, and takes over what other processes have written; nothing for a jar in memory.
  /// Throws ``TaskError`` with code `.fileNotWritable` where that fails; the next change is another try.
  public func synchronize() async throws { try await store?.synchronize(self) }

  /// The number of its cookies, and its file.
  public var description: String {
    let count = cookies.count
    return "CookieJar(\(count) \(count == 1 ? "cookie" : "cookies")\(store.map { ", \($0.file.url.path)" } ?? ""))"
  }

  /// Nothing of the values, which `dump` would show.
  public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies.map(\.description)]) }
}

// MARK: Requests and responses

extension CookieJar {
  /// The cookies of a request as one line of `Cookie`; nil where there are none.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - method: Its method.
  ///   - first: The URL of the first request, where this one follows redirects.
  func line(for url: URL, _ method: HTTPMethod, from first: URL?) -> String? {
    guard let target = CookieTarget(url) else { return nil }
    // Not under the lock: the list of suffixes may have to be read.
    let isSameSite = first.flatMap { CookieTarget($0) }.map { target.isSameSite(as: $0, .system) } ?? true
    let (isSafe, now) = (method.isSafe, dates.now)
    let cookies = shelf.withLock {
      $0.cookies(for: target, isSafe: isSafe, isSameSite: isSameSite, now: now)
    }
    // Step 4 of RFC 6265bis §5.8.3.
    return cookies.isEmpty ? nil : cookies.map(\.pair).joined(separator: "; ")
  }

  /// Keeps the cookies that a response sets; those that it may not are passed over.
  func receive(_ lines: [String], from url: URL) {
    guard let target = CookieTarget(url) else { return }
    var isChanged = false
    for line in lines {
      do throws(CookieRefusal) {
        try keep(line, from: target)
        isChanged = true
      } catch {
        continue  // RFC 6265bis §5.7: "abort these steps and ignore the cookie entirely"
      }
    }
    if isChanged { store?.save(self) }
  }

  private func keep(_ line: String, from target: CookieTarget) throws(CookieRefusal) {
    guard let field = SetCookie(line) else { throw .malformed }
    let now = dates.now
    let cookie = try Cookie(field, from: target, now: now, .system)
    let isKept = shelf.withLock { $0.keep(cookie, from: target, now: now) }
    if !isKept { throw .shadowsSecure }
  }

  /// Writes the changes to the file, and takes over what it has; on the store's thread.
  func write(to file: CookieFile) throws {
    let (changes, now) = (shelf.withLock { $0.takeJournal() }, dates.now)
    let removals = removals.withLock { removals in
      defer { removals = [] }
      return removals
    }
    do {
      let stored = try file.update { cookies in
        CookieShelf.merged(
          cookies.filter { cookie in !removals.contains { $0.takes(cookie, now: now) } }, changes, now: now)
      }
      shelf.withLock { [stored] in $0.adopt(stored, now: now) }
    } catch {
      shelf.withLock { $0.putBack(changes) }
      self.removals.withLock { $0 = removals + $0 }
      throw error
    }
  }

  /// True where it has no cookies, as with most servers.
  var isEmpty: Bool { shelf.withLock { $0.isEmpty } }

  /// True where there is something to write.
  var hasChanges: Bool { shelf.withLock { !($0.journal?.isEmpty ?? true) } || removals.withLock { !$0.isEmpty } }
}
