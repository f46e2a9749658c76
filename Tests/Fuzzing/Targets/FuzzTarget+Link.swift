@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// `Link` fields.
  static let link = FuzzTarget(
    "link",
    hostile: [
      repeating("<>,"), repeating("<"), repeating("<a>;"), repeating("<a>;rel=b,"), repeating("<../"),
      numbering({ " r\($0)" }, between: "<a>;rel=\"", and: "\""), numbering({ ";a\($0)=b" }, between: "<a>"),
      repeating("/..", after: "<"), repeating("%41", after: "<a>;title*=UTF-8''"),
      repeating("\"\\\",", after: "<a>;b="), repeating(" x", after: "<a>"), repeating(";a=\"", after: "<a>"),
    ],
    parse: { bytes in _ = links(String(bytes)) },
    check: { bytes in
      let links = links(String(bytes))
      for link in links {
        try holds(link.url.scheme?.isEmpty == false, "\(link.url) is relative")
        try holds(Set(link.relations).count == link.relations.count, "\(link.relations) contains a duplicate")
        for relation in link.relations {
          try holds(
            !relation.isEmpty && !relation.utf8.contains(0x20), "\(relation.debugDescription) is not a relation")
        }
        try holds(link.parameters["rel"] == nil && link.parameters["anchor"] == nil, "\(link.parameters)")
      }
      let again = Self.links(links.map(written).joined(separator: ", "))
      try holds(again == links, "\(links), written again, becomes \(again)")
    })

  private static func links(_ text: String) -> [Link] {
    guard let url = URL(string: "https://base.test/a/b?c#d") else { return [] }
    return Link.links(in: [.link: text], of: url)
  }

  private static func written(_ link: Link) -> String {
    var text = "<\(link.url.absoluteString)>; rel=\(link.relations.joined(separator: " ").quoted)"
    for (name, value) in link.parameters.sorted(by: { $0.key < $1.key }) {
      // RFC 8187: if a name ends in an asterisk, its value contains a charset.
      let written = name.hasSuffix("*") ? "UTF-8''\(HTTPQuery.escaped(value))" : value
      text += "; \(name)=\(written.quoted)"
    }
    return text
  }
}
