@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// `Set-Cookie` values.
  static let setCookie = FuzzTarget(
    "setCookie",
    hostile: [
      repeating(";"), repeating("="), repeating("; path=/a", after: "a=b"), repeating(" ", after: "a=b;"),
      repeating("; expires=Mon, 01 Jan 2001 00:00:00 GMT", after: "a=b"), repeating("; domain=.a", after: "a=b"),
      numbering({ "; a\($0)=b" }, between: "a=b"), repeating("9", after: "a=b; max-age="),
    ],
    parse: { bytes in _ = SetCookie(String(bytes)) },
    check: { bytes in
      guard let cookie = SetCookie(String(bytes)) else { return }
      let size = cookie.name.utf8.count + cookie.value.utf8.count
      try holds(size > 0 && size <= SetCookie.maximumSize, "\(cookie.name) has \(size) bytes")
      // The value is sent back in a request header.
      try holds(!cookie.name.breaksLine && !cookie.value.breaksLine, "\(cookie) contains a line break")
      try holds(!cookie.name.utf8.contains { ";=".utf8.contains($0) }, "\(cookie.name.debugDescription) is not a name")
      try holds(!cookie.value.utf8.contains(UInt8(ascii: ";")), "\(cookie.value.debugDescription) is not a value")
      try holds(cookie.path.map { $0.utf8.first == UInt8(ascii: "/") } ?? true, "the path \(cookie.path ?? "")")
      let text = written(cookie)
      try holds(SetCookie(text) == cookie, "\(cookie), written again, becomes \(text.debugDescription)")
    })

  private static func written(_ cookie: SetCookie) -> String {
    var text = "\(cookie.name)=\(cookie.value)"
    if let date = cookie.expires { text += "; Expires=\(HTTPDate.format(date))" }
    if let seconds = cookie.maxAge { text += "; Max-Age=\(seconds)" }
    if !cookie.domain.isEmpty { text += "; Domain=.\(cookie.domain)" }
    if cookie.statesPath { text += "; Path=\(cookie.path ?? "")" }
    if cookie.isSecure { text += "; Secure" }
    if cookie.isHTTPOnly { text += "; HttpOnly" }
    if let sameSite = cookie.sameSite { text += "; SameSite=\(sameSite.rawValue)" }
    return text
  }

  /// Dates in headers and cookies.
  static let dates = FuzzTarget(
    "dates",
    hostile: [
      repeating("a"), repeating("1"), repeating(" "), repeating("1:"), repeating("jan "),
      repeating("Sun, 06 Nov 1994 "),
      repeating("1 "), repeating(":"),
    ],
    parse: { bytes in
      let text = String(bytes)
      _ = (HTTPDate.parse(text), CookieDate.parse(text))
    },
    check: { bytes in
      let text = String(bytes)
      for date in [HTTPDate.parse(text), CookieDate.parse(text)].compactMap({ $0 }) {
        let written = HTTPDate.format(date)
        try holds(written.utf8.count == 29, "\(date) is written as \(written)")
        try holds(HTTPDate.parse(written) == date, "\(text.debugDescription) becomes \(written)")
        // RFC 6265bis §5.1.1: no year before 1601.
        guard date.timeIntervalSince1970 >= -11_644_473_600 else { continue }
        try holds(CookieDate.parse(written) == date, "the cookie parser reads \(written) as another date")
      }
    })
}
