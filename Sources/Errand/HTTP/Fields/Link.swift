public import ErrandFoundation

/// A link of a response's `Link` field (RFC 8288).
public struct Link: Sendable, Hashable {
  /// The target, resolved against the URL of the response (§3.1).
  public let url: URL
  /// The relations to the target in lower case, such as `next`, without repetitions.
  public let relations: [String]
  /// The other parameters by their names in lower case, the first of each name.
  public let parameters: [String: String]

  /// The links of a header, in order. One whose target is no URL is left out, and so is one with an anchor, which is about another
  /// resource than the response (§3.2).
  static func links(in headers: HTTPHeaders, of url: URL) -> [Link] {
    let base = URIReference(url.absoluteString)
    return headers.values(for: .link).flatMap { line -> [Link] in
      var scanner = FieldScanner(line)
      var links: [Link] = []
      while let (target, parameters) = next(&scanner) {
        if let link = link(to: target, parameters, base) { links.append(link) }
      }
      return links
    }
  }

  private typealias Parameter = (name: String, value: String)

  private static func link(to target: String, _ all: [Parameter], _ base: URIReference) -> Link? {
    let resolved = URIReference(target).resolved(against: base).text
    guard let url = URL(string: resolved, encodingInvalidCharacters: false),
      !all.contains(where: { $0.name == "anchor" })
    else { return nil }
    // §3.3: only the first counts.
    let stated = (all.first { $0.name == "rel" }?.value ?? "").lowercased().utf8.split(separator: UInt8(ascii: " "))
    var known: Set<String> = []
    let relations = stated.map { String(Substring($0)) }.filter { known.insert($0).inserted }
    var parameters: [String: String] = [:]
    for (name, value) in all where name != "rel" && parameters[name] == nil {
      parameters[name] = name.hasSuffix("*") ? ExtendedValue.text(of: value) ?? value : value
    }
    return Link(url: url, relations: relations, parameters: parameters)
  }

  /// The next link of a line (RFC 8288 appendix B.2); nil where there is none.
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

extension HTTPResponse {
  /// The links of the header, in order (RFC 8288).
  ///
  ///     let next = response.links.first { $0.relations.contains("next") }?.url
  public var links: [Link] { Link.links(in: headers, of: url) }
}
