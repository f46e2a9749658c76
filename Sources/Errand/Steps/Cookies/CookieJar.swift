public import ErrandFoundation

/// Stores cookies set by servers, following RFC 6265bis.
///
///     let jar = try CookieJar(file: support.appendingPathComponent("cookies.json"))
///     await shop.update { $0.cookiePolicy = .shared(jar) }
///
/// By default, every server has its own in-memory jar; see ``CookiePolicy``. A jar keeps at most 50 cookies per domain
/// and 3,000 in total, none for longer than 400 days. Servers that trust each other can share a jar. The jar's
/// description does not show cookie values.
public final class CookieJar: Sendable, CustomStringConvertible, CustomReflectable {
  private let storage: Lock<CookieStorage>
  /// Removals that have not been applied to the file yet. The file can contain cookies from other processes.
  private let removals = Lock<[Removal]>([])
  private let dates: WallClock
  private let store: CookieStore?

  private struct Removal: Sendable {
    let time: Date
    let isUnwanted: @Sendable (Cookie) -> Bool

    /// Whether the removal applies to a cookie. Cookies set after the removal are kept.
    func takes(_ cookie: Cookie, now: Date) -> Bool { isUnwanted(cookie) && !cookie.wasSet(after: time, now: now) }
  }

  /// The maximum number of pending removals. If the file can't be written for a long time, the oldest ones are dropped.
  private static let mostRemovals = 10_000

  /// An in-memory jar that the servers of this process can share.
  public static let shared = CookieJar()

  /// Creates an empty in-memory jar.
  ///
  /// - Parameter clock: The clock that determines when cookies expire.
  public init(clock: CallClock = .continuous) {
    dates = WallClock(clock)
    storage = Lock(CookieStorage())
    store = nil
  }

  /// Creates a jar that stores its cookies in a file, except those without an expiry date.
  ///
  /// The file has mode 0600. Changes are written to a temporary file, which is then renamed, so a crash leaves either
  /// the old or the new version. Changes are written shortly afterwards on a separate thread. Calls don't wait for the
  /// write, but ``synchronize()`` does. Several jars, including jars in other processes, can use the same file. When a
  /// jar writes its own changes, it also reads the changes of other jars.
  ///
  /// - Parameters:
  ///   - file: The file. Its folder is created if necessary, with access for the current user only. A folder that
  ///     belongs to another user or is world-writable is rejected.
  ///   - clock: The clock that determines when cookies expire.
  ///   - log: Receives a message when writing fails. Further failures are not reported until writing succeeds again.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` if the folder or file can't be used, or if the file is not a
  ///   cookie file.
  public init(file: URL, clock: CallClock = .continuous, log: LogOutput = .standardError) throws {
    dates = WallClock(clock)
    let store = CookieStore(CookieFile(url: file), log)
    var storage = CookieStorage(isJournaled: true)
    storage.adopt(try store.open(), now: dates.now)
    self.storage = Lock(storage)
    self.store = store
  }

  // MARK: Cookies

  /// The cookies that have not expired, oldest first.
  public var cookies: [Cookie] {
    let now = dates.now
    return storage.withLock { $0.cookies(at: now) }
  }

  /// Returns the cookies that are sent with a GET request for `url`, in the order in which they are sent.
  public func cookies(for url: URL) -> [Cookie] {
    guard let target = CookieTarget(url) else { return [] }
    let now = dates.now
    return storage.withLock { $0.cookies(for: target, isSafe: true, isSameSite: true, now: now) }
  }

  /// Stores a cookie, such as `session=abc; Path=/; Secure`, as if the server at `url` had set it.
  ///
  /// An expired cookie, such as one with `Max-Age=0`, removes the existing cookie.
  ///
  /// Throws ``TaskError`` with code `.badRequest` if that server is not allowed to set the cookie.
  public func set(_ setCookie: String, from url: URL) throws {
    do throws(CookieRefusal) {
      guard let target = CookieTarget(url) else { throw .noURL }
      try keep(setCookie, from: target)
    } catch {
      throw TaskError(
        .badRequest, "the cookie from '\(Redaction.standard(url).shortened)' was rejected: \(error.rawValue)",
        phase: .preparing, underlying: error)
    }
    store?.save(self)
  }

  /// Removes the cookies for which `isUnwanted` returns `true`, including those in the jar's file. The closure must be
  /// quick and must not use the jar. To sign out, replace the jar instead: a retry of an earlier call is sent with the
  /// cookies that the jar then contains.
  public func removeAll(where isUnwanted: @escaping @Sendable (Cookie) -> Bool = { _ in true }) {
    let unwanted = cookies.filter(isUnwanted).map(\.id)
    let now = dates.now
    if store != nil {
      removals.withLock { $0 = $0.suffix(Self.mostRemovals - 1) + [Removal(time: now, isUnwanted: isUnwanted)] }
    }
    storage.withLock { storage in
      for id in unwanted { storage.remove(id, at: now) }
    }
    store?.save(self)
  }

  /// Writes this jar's changes to the file and reads the changes of other processes. Does nothing for an in-memory jar.
  /// Throws ``TaskError`` with code `.fileNotWritable` if this fails. In that case, the next change triggers a retry.
  public func synchronize() async throws { try await store?.synchronize(self) }

  /// The number of cookies and the path of the file.
  public var description: String {
    let count = cookies.count
    return "CookieJar(\(count) \(count == 1 ? "cookie" : "cookies")\(store.map { ", \($0.file.url.path)" } ?? ""))"
  }

  /// Hides the values from `dump`.
  public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies.map(\.description)]) }
}

// MARK: Requests and responses

extension CookieJar {
  /// Returns the `Cookie` header for a request, or `nil` if no cookies are sent. `first` is the URL of the first
  /// request, before redirects.
  func line(for url: URL, _ method: HTTPMethod, from first: URL?) -> String? {
    guard let target = CookieTarget(url) else { return nil }
    // Do this outside the lock, because it may load the public suffix list.
    let isSameSite = first.flatMap { CookieTarget($0) }.map { target.isSameSite(as: $0, .system) } ?? true
    let (isSafe, now) = (method.isSafe, dates.now)
    let cookies = storage.withLock {
      $0.cookies(for: target, isSafe: isSafe, isSameSite: isSameSite, now: now)
    }
    // Step 4 of RFC 6265bis §5.8.3.
    return cookies.isEmpty ? nil : cookies.map(\.pair).joined(separator: "; ")
  }

  /// Stores the cookies from a response. Rejected cookies are ignored.
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
    let isKept = storage.withLock { $0.keep(cookie, from: target, now: now) }
    if !isKept { throw .shadowsSecure }
  }

  /// Writes this jar's changes to the file and reads the changes of other processes. Called on the store's queue.
  func write(to file: CookieFile) throws {
    let (changes, now) = (storage.withLock { $0.takeJournal() }, dates.now)
    let removals = removals.withLock { removals in
      defer { removals = [] }
      return removals
    }
    do {
      let stored = try file.update { cookies in
        CookieStorage.merged(
          cookies.filter { cookie in !removals.contains { $0.takes(cookie, now: now) } }, changes, now: now)
      }
      storage.withLock { [stored] in $0.adopt(stored, now: now) }
    } catch {
      storage.withLock { $0.putBack(changes) }
      self.removals.withLock { $0 = removals + $0 }
      throw error
    }
  }

  var isEmpty: Bool { storage.withLock { $0.isEmpty } }

  var hasChanges: Bool { storage.withLock { !($0.journal?.isEmpty ?? true) } || removals.withLock { !$0.isEmpty } }
}
