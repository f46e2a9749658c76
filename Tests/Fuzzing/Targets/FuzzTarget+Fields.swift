import Foundation

@testable import Errand

extension FuzzTarget {
  /// Header values: lists, directives, challenges, tags and ranges.
  static let fields = FuzzTarget(
    "fields",
    hostile: [
      repeating("a,"), repeating("\"a\\\",", after: "\""), numbering { "Basic a\($0)=b," },
      repeating("a=\"b,", after: "A "),
      repeating("=", after: "Negotiate a"), numbering { "a\($0)=\"b\"," }, repeating("no-store;"),
      repeating("1,"), repeating("Sun,"), repeating("Sun, 06 Nov 1994 08:49:37 GMT,"),
    ],
    parse: { bytes in
      let text = String(bytes)
      let headers: HTTPHeaders = [
        .wwwAuthenticate: text, .cacheControl: text, .vary: text, .range: text, .contentRange: text, .retryAfter: text,
      ]
      _ = headers.challenges
      _ = CacheControl(headers)
      _ = Vary(headers)
      _ = EntityTagCondition([text])
      _ = (ByteRange(headers), ContentRange(headers), RetryAfter.delay(in: headers, now: Date()))
    },
    check: { bytes in
      let text = String(bytes)
      try checkMembers(text)
      try checkChallenges(text)
      try checkDirectives(text)
      try checkTags(text)
      try checkRanges(text)
      try checkWaits(text)
    })

  private static func checkMembers(_ text: String) throws {
    let members = FieldScanner.members(of: [text])
    for member in members {
      try holds(
        !member.isEmpty && member[...].trimmingSpaces() == member, "\(member.debugDescription) is not a list member")
    }
    let again = FieldScanner.members(of: [members.joined(separator: ", ")])
    try holds(again == members, "\(members) becomes \(again)")
  }

  private static func checkChallenges(_ text: String) throws {
    let challenges = ([.wwwAuthenticate: text] as HTTPHeaders).challenges
    for challenge in challenges {
      try holds(HTTPHeaderName(challenge.scheme).isValid, "\(challenge.scheme) is not a valid scheme")
      let again = ([.wwwAuthenticate: challenge.description] as HTTPHeaders).challenges
      try holds(again == [challenge], "\(challenge.description.debugDescription) becomes \(again)")
      try holds(
        challenge.parameters.allSatisfy { challenge[$0.name] == $0.value },
        "\(challenge) looks up different parameter values")
    }
    let all = challenges.map(\.description).joined(separator: ", ")
    try holds(
      ([.wwwAuthenticate: all] as HTTPHeaders).challenges == challenges, "\(all.debugDescription) changes when parsed")
  }

  private static func checkDirectives(_ text: String) throws {
    let control = CacheControl([.cacheControl: text])
    for directive in control.directives {
      try holds(HTTPHeaderName(directive.name).isValid, "\(directive.name) is not a valid directive")
      try holds(control.contains(directive.name), "\(directive.name) is lost")
      if case .stated(let seconds) = control.seconds(directive.name) {
        try holds((0...DeltaSeconds.largest).contains(seconds), "\(seconds) seconds")
      }
    }
    let sound = control.directives.filter(\.isSound)
    let written = sound.map { one in one.argument.map { "\(one.name)=\($0.quoted)" } ?? one.name }.joined(
      separator: ",")
    try holds(
      CacheControl([.cacheControl: written]).directives == sound, "\(written.debugDescription) changes when parsed")
    // A cache that misses `no-store` would store a response that it must not store.
    let words = text.split { ",;\" \t".contains($0) }
    if words.contains("no-store"), text.utf8.allSatisfy({ HTTPHeaderName.isTokenByte($0) || ", ".utf8.contains($0) }) {
      try holds(control.contains("no-store"), "no-store is not recognized")
    }
  }

  private static func checkTags(_ text: String) throws {
    guard let tag = EntityTag(text) else { return }
    try holds(EntityTag(tag.text) == tag && tag.matchesWeakly(tag), "\(tag.text.debugDescription) changes when parsed")
    try holds(tag.matchesStrongly(tag) != tag.isWeak, "\(tag.text.debugDescription) is both weak and strong")
  }

  private static func checkRanges(_ text: String) throws {
    if let range = ByteRange([.range: text]) {
      for length in [0, 1, 100, Int.max] {
        guard let positions = range.positions(of: length) else { continue }
        try holds(!positions.isEmpty && positions.upperBound <= length, "\(range) means \(positions) of \(length)")
      }
    }
    if let part = ContentRange([.contentRange: text]), let length = part.length {
      try holds(part.positions.upperBound < length, "\(part.positions) of \(length)")
    }
  }

  private static func checkWaits(_ text: String) throws {
    let delay = RetryAfter.delay(in: [.retryAfter: text, .date: text], now: Date())
    try holds(delay.map { $0 >= .zero } ?? true, "the delay is \(String(describing: delay))")
    let age = Age.seconds(in: [.age: text])
    try holds(age.map { (0...DeltaSeconds.largest).contains($0) } ?? true, "the age is \(String(describing: age))")
    guard case .fields(let names) = Vary([.vary: text]) else { return }
    try holds(names.allSatisfy { !$0.rawName.isEmpty && $0.rawName != "*" }, "Vary contains invalid names: \(names)")
  }
}
