@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// URL references, hosts and paths.
  static let url = FuzzTarget(
    "url",
    hostile: [
      repeating("/.."), repeating("a/"), repeating("/a/.."), repeating("?"), repeating("@", after: "http://"),
      repeating("a.", after: "http://"), repeating("%41", after: "http://"), repeating("é", after: "/"),
      repeating(":", after: "http://["), repeating("%2e/"), repeating("a", after: "http://a.test:"), repeating("a"),
    ],
    parse: { bytes in
      let text = String(bytes)
      let resolved = URIReference(text).resolved(against: base)
      _ = URL(string: resolved.text, encodingInvalidCharacters: false).map { Origin.reading($0) }
      _ = (HostName.written(text[...]), try? shop.url(path: text, query: [:]), try? PathSegments.path(of: [text]))
    },
    check: { bytes in
      let text = String(bytes)
      try checkReference(text)
      try checkHost(text)
      try checkPath(text)
      try checkSegment(text)
    })

  private static let base = URIReference("https://base.test/a/b?c#d")
  private static let shop = BaseURL("https://shop.test/v1", redaction: .standard)

  private static func checkReference(_ text: String) throws {
    let reference = URIReference(text)
    try holds(URIReference(reference.text) == reference, "\(reference) becomes \(URIReference(reference.text))")
    try holds(
      reference.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(reference.text.debugDescription) is not a URI")
    let target = reference.resolved(against: base)
    try holds(target.resolved(against: base) == target, "resolving \(target) again changes it")
    if target.path.utf8.first == UInt8(ascii: "/") {
      let segments = target.path.split(separator: "/")
      try holds(!segments.contains("..") && !segments.contains("."), "\(target.path) has dot segments")
    }
    guard let url = URL(string: target.text, encodingInvalidCharacters: false) else { return }
    try holds(url.absoluteString == target.text, "\(target.text) becomes \(url.absoluteString)")
    try checkOrigin(url, target)
  }

  private static func checkOrigin(_ url: URL, _ reference: URIReference) throws {
    guard let origin = Origin(url) else { return }
    try holds(["http", "https"].contains(reference.scheme?.lowercased()), "\(url) must not have an origin")
    try holds(origin.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\".utf8.contains($0) }, "\(origin)")
    guard let plain = URL(string: origin.description), let sent = URL(string: origin.address(of: url)) else {
      throw FuzzFinding(description: "\(origin) is not a URL")
    }
    try holds(Origin(plain) == origin, "\(origin) becomes \(String(describing: Origin(plain)))")
    // libcurl connects to the URL with this text.
    try holds(Origin(sent) == origin, "\(url) of \(origin) is sent to \(sent)")
    try holds(HostName.normal(origin.host) == origin.host, "\(origin.host) becomes \(HostName.normal(origin.host))")
    // A URL in a `Location` must have the same origin as the request to it.
    let again = (try? LinkedURL.target(in: [.location: url.absoluteString], from: plain)).flatMap { $0 }
    try holds(again == nil || again.flatMap { Origin($0) } == origin, "\(url) leads to \(String(describing: again))")
  }

  private static func checkHost(_ text: String) throws {
    guard let host = HostName.written(text[...]) else { return }
    try holds(HostName.written(host.text[...]) == host, "writing \(host) again changes it")
  }

  /// Checks that a path stays at or below its remote and keeps its query.
  private static func checkPath(_ text: String) throws {
    guard !text.lowercased().hasPrefix("http"), let url = try? shop.url(path: text, query: ["q": text]) else { return }
    let address = url.absoluteString
    let remote = "https://shop.test/v1"
    let isBelow =
      address.hasPrefix("\(remote)/") || (text.isEmpty || text.hasPrefix("?")) && address.hasPrefix("\(remote)?")
    try holds(isBelow && Origin(url)?.host == "shop.test", "\(address) is not below the remote")
    try holds(address.hasSuffix("q=\(HTTPQuery.escaped(text))"), "\(address) has another query")
    try holds(!address.utf8.contains(UInt8(ascii: "#")), "\(address) has a fragment")
    let segments = address.utf8.prefix { $0 != UInt8(ascii: "?") }.split(separator: UInt8(ascii: "/"))
    for segment in segments.map({ String(Array($0)).lowercased() }) where segment.contains("%2e") {
      try holds(!["%2e", "%2e%2e", ".%2e", "%2e."].contains(segment), "\(address) has an encoded dot segment")
    }
  }

  /// Checks that a value fills exactly one segment and is never a dot segment.
  private static func checkSegment(_ text: String) throws {
    let written = "label/\(segment: text)/values"
    try holds(written.utf8.count { $0 == UInt8(ascii: "/") } == 2, "\(written) has a different number of segments")
    guard let url = try? shop.url(path: written, query: [:]) else {
      return try holds(text == "." || text == "..", "\(text.debugDescription) is rejected")
    }
    try holds(url.absoluteString == "https://shop.test/v1/\(written)", "\(written) becomes \(url)")
    try holds(written.dropFirst(6).dropLast(7).percentDecoded == text, "\(text.debugDescription) becomes \(written)")
  }
}
