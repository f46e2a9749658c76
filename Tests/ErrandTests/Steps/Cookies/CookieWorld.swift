import Foundation

@testable import Errand

/// A cookie store, with servers that set cookies and requests that send them, in virtual time.
struct CookieWorld {
  var storage: CookieStorage
  var now = Date(timeIntervalSince1970: 1_700_000_000)
  private let suffixes = PublicSuffixes(list: Data("test\nco.test\n".utf8))

  init(_ limits: CookieStorage.Limits = .init(), isJournaled: Bool = false) {
    storage = CookieStorage(limits, isJournaled: isJournaled)
  }

  /// Sets a cookie from the server at `url`. Returns the reason if the cookie is rejected.
  @discardableResult
  mutating func set(_ line: String, at url: String) -> CookieRefusal? {
    guard let field = SetCookie(line) else { return .malformed }
    do throws(CookieRefusal) {
      let target = Self.target(url)
      let cookie = try Cookie(field, from: target, now: now, suffixes)
      return storage.keep(cookie, from: target, now: now) ? nil : .shadowsSecure
    } catch {
      return error
    }
  }

  /// Returns the `Cookie` header of a request, or an empty string.
  mutating func line(_ url: String, isSafe: Bool = true, from first: String? = nil) -> String {
    let target = Self.target(url)
    let isSameSite = first.map { target.isSameSite(as: Self.target($0), suffixes) } ?? true
    return storage.cookies(for: target, isSafe: isSafe, isSameSite: isSameSite, now: now).map(\.pair).joined(
      separator: "; ")
  }

  /// The only cookie, or `nil` if there is not exactly one.
  var only: Cookie? {
    let all = storage.cookies(at: now)
    return all.count == 1 ? all[0] : nil
  }

  mutating func pass(_ seconds: Double) { now.addTimeInterval(seconds) }

  static func target(_ text: String) -> CookieTarget {
    guard let target = URL(string: text).flatMap({ CookieTarget($0) }) else {
      preconditionFailure("not an http or https URL: \(text)")
    }
    return target
  }
}
