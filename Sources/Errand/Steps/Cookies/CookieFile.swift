import ErrandFoundation

/// The file of a cookie jar. It has mode 0600. Changes are written to a temporary file, which is then renamed, so a
/// crash leaves either the old or the new version. Several processes can share the file.
struct CookieFile: Sendable {
  /// The time to wait for another process's lock, in milliseconds. A process holds the lock for only a few
  /// milliseconds.
  static let patience = 2000

  let url: URL

  private var folder: URL { url.deletingLastPathComponent() }
  private var name: String { url.lastPathComponent }
  private var aside: String { ".\(name).new" }
  private var lock: String { ".\(name).lock" }

  /// Creates the folder if necessary and reads the cookies. Throws an error if the folder or the file is not trusted,
  /// or if the file is not a cookie file.
  func open() throws -> [Cookie] {
    try PrivateFolder.make(folder)
    return try read(PrivateFolder(folder))
  }

  /// Changes the cookies while holding the file's lock and returns the new cookies.
  func update(_ change: ([Cookie]) -> [Cookie]) throws -> [Cookie] {
    try PrivateFolder.make(folder)
    let cookies = try PrivateFolder(folder).locked(lock, patience: Self.patience) { folder in
      let cookies = change(try read(folder))
      // `create` replaces a file left behind by a crash, instead of writing to that file.
      let content = StoredCookies(cookies: cookies.compactMap(StoredCookie.init))
      try folder.create(aside, JSONEncoder().encode(content), isSynchronised: true)
      do {
        try folder.rename(aside, to: name)
      } catch {
        folder.remove(aside)
        throw error
      }
      folder.synchronise()
      return cookies
    }
    guard let cookies else { throw Problem.locked }
    return cookies
  }

  private func read(_ folder: borrowing PrivateFolder) throws -> [Cookie] {
    guard let data = try folder.read(name), !data.isEmpty else { return [] }
    guard let content = try? JSONDecoder().decode(StoredCookies.self, from: data), content.version == 1 else {
      throw Problem.otherContent
    }
    return content.cookies.compactMap(\.cookie)
  }

  enum Problem: String, Error, CustomStringConvertible {
    case locked = "another process holds its lock"
    case otherContent = "it contains something other than cookies: move it elsewhere"

    var description: String { rawValue }
  }
}

private struct StoredCookies: Codable {
  var version = 1
  var cookies: [StoredCookie] = []
}

private struct StoredCookie: Codable {
  var name: String
  var value: String
  var domain: String
  var path: String
  var isHostOnly: Bool
  var isSecure: Bool
  var isHTTPOnly: Bool
  var sameSite: String?
  var expiry: Double
  var created: Double
  var accessed: Double
  /// The time when the cookie was last set. `nil` in older files, which only have the creation time.
  var set: Double?
}

extension StoredCookie {
  /// Returns `nil` for a session cookie.
  fileprivate init?(_ cookie: Cookie) {
    guard let expiry = cookie.expiry else { return nil }
    self.init(
      name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path, isHostOnly: cookie.isHostOnly,
      isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite?.rawValue,
      expiry: expiry.timeIntervalSince1970, created: cookie.created.timeIntervalSince1970,
      accessed: cookie.accessed.timeIntervalSince1970, set: cookie.set.timeIntervalSince1970)
  }

  /// The cookie, or `nil` if it is invalid, because an invalid cookie would make every request fail.
  fileprivate var cookie: Cookie? {
    let isSound = [name, value, domain, path].allSatisfy { text in
      text.hasOnlyBytes { ($0 >= 0x20 && $0 != 0x7F) || $0 == 9 }
    }
    guard isSound, !domain.isEmpty, path.hasPrefix("/") else { return nil }
    var cookie = Cookie(
      Cookie.ID(name: name, domain: domain, path: path, isHostOnly: isHostOnly), value, isSecure: isSecure,
      isHTTPOnly: isHTTPOnly, sameSite: sameSite.flatMap { SameSite(rawValue: $0) },
      expiry: Date(timeIntervalSince1970: expiry), created: Date(timeIntervalSince1970: created),
      accessed: Date(timeIntervalSince1970: accessed))
    if let set { cookie.set = Date(timeIntervalSince1970: set) }
    return cookie
  }
}
