/// The directives in all `Cache-Control` field lines, in order (RFC 9111 §5.2).
struct CacheControl: Sendable, Equatable {
  struct Directive: Sendable, Equatable {
    /// The name in lower case.
    let name: String
    let argument: String?
    /// Whether the directive follows the grammar.
    var isSound = true
  }

  enum Seconds: Equatable {
    case absent
    /// The directive has no valid number, such as `max-age=soon`.
    case malformed
    /// The number, at most 2³¹.
    case stated(Int)
  }

  let directives: [Directive]

  init(_ headers: HTTPHeaders) {
    directives =
      headers.contains(.cacheControl)
      ? FieldScanner.members(of: headers.values(for: .cacheControl)).flatMap { Self.directives($0) } : []
  }

  private static func directives(_ member: String) -> [Directive] {
    guard let directive = Self.directive(member) else { return hidden(in: member) }
    return directive.isSound ? [directive] : [directive] + hidden(in: member)
  }

  /// Returns the restrictive directives in a malformed member. They are found even after an unclosed quote, or if
  /// whitespace or a semicolon is used instead of a comma.
  private static func hidden(in member: String) -> [Directive] {
    let words = member.utf8.split { ",;\" \t".utf8.contains($0) }.map { Substring($0).lowercased() }
    return words.filter { $0 == "no-store" || $0 == "no-cache" || $0 == "must-revalidate" }.map {
      Directive(name: $0, argument: nil)
    }
  }

  // RFC 9111 §5.2: token [ "=" ( token / quoted-string ) ]. Both forms are accepted for every directive.
  private static func directive(_ text: String) -> Directive? {
    var scanner = FieldScanner(text)
    guard let name = scanner.token()?.lowercased() else { return nil }
    if scanner.isAtEnd { return Directive(name: name, argument: nil) }
    guard scanner.skip(UInt8(ascii: "=")), let argument = scanner.quotedString() ?? scanner.token(), scanner.isAtEnd
    else { return Directive(name: name, argument: nil, isSound: false) }
    return Directive(name: name, argument: argument)
  }

  /// Returns the first directive with this name, which is used if a directive is repeated with different values (RFC
  /// 9111 §4.2.1).
  private func first(_ name: String) -> Directive? { directives.first { $0.name == name } }

  func contains(_ name: String) -> Bool { first(name) != nil }

  /// Whether a directive is present without an argument, even if it is also present with one. The unqualified form
  /// applies to the entire response.
  func isUnqualified(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == nil } }

  func seconds(_ name: String) -> Seconds {
    guard let directive = first(name) else { return .absent }
    guard directive.isSound, let argument = directive.argument, let number = DeltaSeconds.parse(argument) else {
      return .malformed
    }
    return .stated(number)
  }

  /// Returns the field names in the arguments of a directive, such as `no-cache="Set-Cookie, X-Id"`.
  func fieldNames(_ name: String) -> [HTTPHeaderName] {
    FieldScanner.members(of: directives.filter { $0.name == name }.compactMap(\.argument)).map { HTTPHeaderName($0) }
  }
}

extension CacheControl.Seconds {
  var value: Duration? {
    if case .stated(let seconds) = self { .seconds(seconds) } else { nil }
  }
}
