public import ErrandFoundation

/// A link from the `Link` header field of a response (RFC 8288).
public struct Link: Sendable, Hashable {
  /// The target, resolved against the URL of the response (§3.1).
  public let url: URL
  /// The relation types in lower case, such as `next`, without duplicates.
  public let relations: [String]
  /// The other parameters, keyed by lowercase name. If a name is repeated, the first value is kept.
  public let parameters: [String: String]

  /// Returns the links in a header, in order. Omits links with an invalid target. Also omits links with an anchor,
  /// because they describe another resource (§3.2).
  static func links(in headers: HTTPHeaders, of url: URL) -> [Link] {
    headers.values(for: .link).flatMap { line -> [Link] in
      var scanner = FieldScanner(line)
      var links: [Link] = []
      while let (target, parameters) = next(&scanner) {
        if let link = link(to: target, parameters, url) { links.append(link) }
      }
      return links
    }
  }

  private typealias Parameter = (name: String, value: String)

  private static func link(to target: String, _ all: [Parameter], _ base: URL) -> Link? {
    guard let url = LinkedURL.resolved(target, against: base), !all.contains(where: { $0.name == "anchor" })
    else { return nil }
    // §3.3: only the first `rel` is used.
    let stated = relations(of: (all.first { $0.name == "rel" }?.value ?? "").lowercased())
    var known: Set<String> = []
    let relations = stated.map { String(Substring($0)) }.filter { known.insert($0).inserted }
    var parameters: [String: String] = [:]
    for (name, value) in all where name != "rel" && parameters[name] == nil {
      parameters[name] = name.hasSuffix("*") ? ExtendedValue.text(of: value) ?? value : value
    }
    return Link(url: url, relations: relations, parameters: parameters)
  }

  private static func relations(of value: String) -> [Substring.UTF8View] {
    value.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  /// Parses the next link in a line (RFC 8288 appendix B.2). Returns `nil` after the last one.
  private static func next(_ scanner: inout FieldScanner) -> (target: String, [Parameter])? {
    while !scanner.isAtEnd {
      scanner.skipBlanks()
      if scanner.skip(UInt8(ascii: "<")) {
        let target = scanner.text(before: UInt8(ascii: ">"))
        guard scanner.skip(UInt8(ascii: ">")) else { return nil }
        return (target, scanner.parameters(inList: true).map { ($0.0, $0.1 ?? "") })
      }
      _ = scanner.text(before: UInt8(ascii: ","))
      _ = scanner.skip(UInt8(ascii: ","))
    }
    return nil
  }
}

// MARK: The next page

extension Link {
  /// A `Link` field line that can't be parsed and may contain the `next` link.
  struct Malformed: Error {
    let line: String
  }

  /// Returns the URL of the next page, or `nil` after the last page.
  ///
  /// Throws ``Malformed`` if no `next` link was found but a line can't be parsed, because that line may contain it.
  static func next(in response: HTTPResponse) throws(Malformed) -> String? {
    if let link = response.links.first(where: { $0.relations.contains("next") }) { return link.url.absoluteString }
    let lines = response.headers.values(for: .link)
    if let line = lines.first(where: { !isWellFormed($0, of: response.url) }) { throw Malformed(line: line) }
    return nil
  }

  /// Whether a field line is a valid list of links (RFC 8288 §3). Unquoted values can contain any URI character.
  private static func isWellFormed(_ line: String, of url: URL) -> Bool {
    var scanner = FieldScanner(line)
    while true {
      repeat { scanner.skipBlanks() } while scanner.skip(UInt8(ascii: ","))  // RFC 9110 §5.6.1: empty members
      if scanner.isAtEnd { return true }
      guard scanner.skip(UInt8(ascii: "<")) else { return false }
      let target = scanner.text(before: UInt8(ascii: ">"))
      guard scanner.skip(UInt8(ascii: ">")), LinkedURL.resolved(target, against: url) != nil,
        hasWellFormedParameters(&scanner)
      else { return false }
    }
  }

  private static func hasWellFormedParameters(_ scanner: inout FieldScanner) -> Bool {
    scanner.skipBlanks()
    while scanner.skip(UInt8(ascii: ";")) {
      scanner.skipBlanks()
      guard let name = scanner.token() else { continue }  // `;;`
      scanner.skipBlanks()
      var value: String?
      if scanner.skip(UInt8(ascii: "=")) {
        scanner.skipBlanks()
        guard let text = scanner.quotedString() ?? bareValue(&scanner) else { return false }
        value = text
        scanner.skipBlanks()
      }
      if name.lowercased() == "rel", !isRelations(value ?? "") { return false }
    }
    return scanner.isAtEnd || scanner.next == UInt8(ascii: ",")
  }

  private static func bareValue(_ scanner: inout FieldScanner) -> String? {
    var bytes: [UInt8] = []
    while let byte = scanner.next, byte != UInt8(ascii: ";"), byte != UInt8(ascii: ",") {
      guard byte != UInt8(ascii: "\""), byte != UInt8(ascii: "<"), byte != UInt8(ascii: ">") else { return nil }
      bytes.append(byte)
      _ = scanner.skip(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a value is a list of relation types: registered names or URIs (RFC 8288 §3.3).
  private static func isRelations(_ value: String) -> Bool {
    let types = relations(of: value)
    return !types.isEmpty
      && types.allSatisfy { type in
        type.contains(UInt8(ascii: ":"))
          || type.allSatisfy { byte in
            HTTPHeaderName.isTokenByte(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "`")
          }
      }
  }
}

extension HTTPResponse {
  /// The links in the `Link` header field, in order (RFC 8288).
  ///
  ///     let next = response.links.first { $0.relations.contains("next") }?.url
  public var links: [Link] { Link.links(in: headers, of: url) }
}
