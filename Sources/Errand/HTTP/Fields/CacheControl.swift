/// The directives of `Cache-Control` (RFC 9111 §5.2), of all its lines, in order.
struct CacheControl: Sendable, Equatable {
  /// A directive.
  struct Directive: Sendable, Equatable {
    /// The name in lower case.
    let name: String
    /// The text after the equals sign, unquoted; nil where there is none.
    let argument: String?
    /// False where the directive is not written as the grammar has it.
    var isSound = true
  }

  /// A number of seconds as a directive states it.
  enum Seconds: Equatable {
    /// The directive is not there.
    case absent
    /// The directive is there and says no number, such as `max-age=soon`.
    case malformed
    /// The number, 2³¹ at most.
    case stated(Int)
  }

  let directives: [Directive]

  init(_ headers: HTTPHeaders) {
    directives =
      headers.contains(.cacheControl)
      ? FieldScanner.members(of: headers.values(for: .cacheControl)).flatMap { Self.directives($0) } : []
  }

  /// The directives of one member of the list.
  private static func directives(_ member: String) -> [Directive] {
    guard let directive = Self.directive(member) else { return hidden(in: member) }
    return directive.isSound ? [directive] : [directive] + hidden(in: member)
  }

  /// The directives that forbid, in a member that is malformed: a quote that does not end, a blank or a semicolon in the place of
  /// a comma is not to hide them.
  private static func hidden(in member: String) -> [Directive] {
    let words = member.utf8.split { ",;\" \t".utf8.contains($0) }.map { Substring($0).lowercased() }
    return words.filter { $0 == "no-store" || $0 == "no-cache" || $0 == "must-revalidate" }.map {
      Directive(name: $0, argument: nil)
    }
  }

  // RFC 9111 §5.2: token [ "=" ( token / quoted-string ) ]. Both forms of the argument are taken for every directive.
  private static func directive(_ text: String) -> Directive? {
    var scanner = FieldScanner(text)
    guard let name = scanner.token()?.lowercased() else { return nil }
    if scanner.isAtEnd { return Directive(name: name, argument: nil) }
    guard scanner.skip(UInt8(ascii: "=")), let argument = scanner.quotedString() ?? scanner.token(), scanner.isAtEnd
    else { return Directive(name: name, argument: nil, isSound: false) }
    return Directive(name: name, argument: argument)
  }

  /// The first directive of a name. RFC 9111 §4.2.1: of several that differ, the first counts.
  private func first(_ name: String) -> Directive? { directives.first { $0.name == name } }

  /// True when a directive is there, with or without an argument.
  func contains(_ name: String) -> Bool { first(name) != nil }

  /// True when a directive is there without an argument, be it beside one with an argument: that is the wider one.
  func isUnqualified(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == nil } }

  /// The number of seconds that a directive states.
  func seconds(_ name: String) -> Seconds {
    guard let directive = first(name) else { return .absent }
    guard directive.isSound, let argument = directive.argument, let number = DeltaSeconds.parse(argument) else {
      return .malformed
    }
    return .stated(number)
  }

  /// The names of fields in the arguments of a directive: `no-cache="Set-Cookie, X-Id"`.
  func fieldNames(_ name: String) -> [HTTPHeaderName] {
    FieldScanner.members(of: directives.filter { $0.name == name }.compactMap(\.argument)).map { HTTPHeaderName($0) }
  }
}

extension CacheControl.Seconds {
  /// The number of seconds; nil where the directive is missing or malformed.
  var value: Duration? {
    if case .stated(let seconds) = self { .seconds(seconds) } else { nil }
  }
}
