import ErrandFoundation

/// The file of a jar: 0600, written aside and renamed, so that a crash leaves the old one or the new one. Several processes
/// may share it.
struct CookieFile: Sendable {
  /// The most milliseconds that it waits for another process, which holds the lock for a few.
  static let patience = 2000

  let url: URL

  private var folder: URL { url.deletingLastPathComponent() }
  private var name: String { url.lastPathComponent }
  private var aside: String { ".\(name).new" }
  private var lock: String { ".\(name).lock" }

  /// Makes the folder where there is none, and reads the cookies of the file.
  /// Throws where the folder or the file is not to be trusted, or the file has something else.
  func open() throws -> [Cookie] {
    try PrivateFolder.make(folder)
    return try read(PrivateFolder(folder))
  }

  /// Changes the cookies of the file, alone; returns them.
  func update(_ change: ([Cookie]) -> [Cookie]) throws -> [Cookie] {
    try PrivateFolder.make(folder)
    let cookies = try PrivateFolder(folder).locked(lock, patience: Self.patience) { folder in
      let cookies = change(try read(folder))
      // One that a crash left behind is removed, not written to.
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

  /// The reason not to use the file.
  enum Problem: String, Error, CustomStringConvertible {
    case locked = "another process holds its lock"
    case otherContent = "it has something else than cookies: move it away"

    var description: String { rawValue }
  }
}

/// The content of a file.
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
  /// Nil for one of an earlier version, which is that of its creation.
  var set: Double?
}

extension StoredCookie {
  /// Nil for a cookie that ends with the jar.
  fileprivate init?(_ cookie: Cookie) {
    guard let expiry = cookie.expiry else { return nil }
    self.init(
      name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path, isHostOnly: cookie.isHostOnly,
      isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite?.rawValue,
      expiry: expiry.timeIntervalSince1970, created: cookie.created.timeIntervalSince1970,
      accessed: cookie.accessed.timeIntervalSince1970, set: cookie.set.timeIntervalSince1970)
  }

  /// Nil for what no server may have set: it would keep every request from being sent.
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
