import Foundation

@testable import Errand

/// A shelf of cookies, with servers that set them and requests that take them, in virtual time.
struct CookieWorld {
  var shelf: CookieShelf
  var now = Date(timeIntervalSince1970: 1_700_000_000)
  private let suffixes = PublicSuffixes(list: Data("test\nco.test\n".utf8))

  init(_ limits: CookieShelf.Limits = .init(), isJournaled: Bool = false) {
    shelf = CookieShelf(limits, isJournaled: isJournaled)
  }

  /// Has the server of a URL set a cookie; the reason where it is not kept.
  @discardableResult
  mutating func set(_ line: String, at url: String) -> CookieRefusal? {
    guard let field = SetCookie(line) else { return .malformed }
    do throws(CookieRefusal) {
      let target = Self.target(url)
      let cookie = try Cookie(field, from: target, now: now, suffixes)
      return shelf.keep(cookie, from: target, now: now) ? nil : .shadowsSecure
    } catch {
      return error
    }
  }

  /// The `Cookie` of a request; empty where there is none.
  mutating func line(_ url: String, isSafe: Bool = true, from first: String? = nil) -> String {
    let target = Self.target(url)
    let isSameSite = first.map { target.isSameSite(as: Self.target($0), suffixes) } ?? true
    return shelf.cookies(for: target, isSafe: isSafe, isSameSite: isSameSite, now: now).map(\.pair).joined(
      separator: "; ")
  }

  /// The one cookie that there is.
  var only: Cookie? {
    let all = shelf.cookies(at: now)
    return all.count == 1 ? all[0] : nil
  }

  mutating func pass(_ seconds: Double) { now.addTimeInterval(seconds) }

  static func target(_ text: String) -> CookieTarget {
    guard let target = URL(string: text).flatMap({ CookieTarget($0) }) else { preconditionFailure("\(text) is no URL") }
    return target
  }
}
