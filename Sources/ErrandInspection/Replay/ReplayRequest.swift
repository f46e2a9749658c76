import Errand
import ErrandFoundation

/// A request for comparison, with its secrets hidden.
struct ReplayRequest: Sendable {
  enum Body: Sendable, Equatable {
    case bytes(Data)
    /// Binary data, in which secrets can't be hidden.
    case raw(Data)
    case json(JSONValue)
    /// A body that can't be compared, with the reason.
    case unknown(String)
  }

  var method: HTTPMethod
  var origin: String
  var path: String
  var query: [String]
  var headers: HTTPHeaders
  var body: Body

  var description: String { "\(method) \(url)" }

  private var url: String { origin + path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")) }

  init(_ method: HTTPMethod, _ address: String, headers: HTTPHeaders, body: Body, redaction: Redaction) {
    self.method = method
    let whole = redaction(address: address).prefix { $0 != "#" }
    let parts = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let place = parts.first ?? ""
    let start = place.firstRange(of: "://")?.upperBound ?? place.startIndex
    let slash = place[start...].firstIndex(of: "/") ?? place.endIndex
    origin = place[..<slash].lowercased()
    path = slash == place.endIndex ? "/" : String(place[slash...])
    query = parts.dropFirst().first?.split(separator: "&").map(String.init) ?? []
    self.headers = redaction(headers)
    self.body = body
  }

  /// Returns descriptions of the properties in which this request differs from a recorded one.
  func differences(from recorded: ReplayRequest, in aspects: Set<ReplayAspect>) -> [String] {
    var differences: [String] = []
    func compare(_ name: String, _ mine: String, _ other: String) {
      guard mine != other else { return }
      differences.append("\(name): '\(mine.shortened)' instead of '\(other.shortened)'")
    }
    if aspects.contains(.method) { compare("method", method.rawValue, recorded.method.rawValue) }
    if aspects.contains(.origin) || aspects.contains(.url) { compare("origin", origin, recorded.origin) }
    if aspects.contains(.path) || aspects.contains(.url) { compare("path", path, recorded.path) }
    if aspects.contains(.query) || aspects.contains(.url), !hasQuery(of: recorded) {
      compare("query", query.joined(separator: "&"), recorded.query.joined(separator: "&"))
    }
    for name in Self.names(in: aspects) where recorded.headers.joined(name) != Redaction.mark {
      compare(name.rawName, headers.joined(name), recorded.headers.joined(name))
    }
    if aspects.contains(.body), let difference = body.difference(from: recorded.body) { differences.append(difference) }
    return differences
  }

  /// Whether the query has the recorded items, in any order. A value that the recording hides matches any value: the
  /// recording process may know secret names that this process learns later.
  private func hasQuery(of recorded: ReplayRequest) -> Bool {
    func isHidden(_ item: String) -> Bool { item.hasSuffix("=" + Redaction.mark) }
    func name(_ item: String) -> Substring { item.prefix { $0 != "=" } }
    var rest = query
    // Hidden values last, so that they don't take the place of values that are shown.
    for item in recorded.query.filter({ !isHidden($0) }) + recorded.query.filter(isHidden) {
      guard let index = rest.firstIndex(where: { $0 == item || (isHidden(item) && name($0) == name(item)) })
      else { return false }
      rest.remove(at: index)
    }
    return rest.isEmpty
  }

  private static func names(in aspects: Set<ReplayAspect>) -> [HTTPHeaderName] {
    aspects.compactMap { if case .header(let name) = $0 { name } else { nil } }.sorted { $0.rawName < $1.rawName }
  }

  /// Returns the length of the prefix that both URLs have in common. Breaks ties between requests with the same number
  /// of differences.
  func likeness(to recorded: ReplayRequest) -> Int {
    zip(url.utf8, recorded.url.utf8).prefix { $0.0 == $0.1 }.count
  }
}

extension ReplayRequest.Body {
  init(_ data: Data, type: MediaType?, redaction: Redaction) {
    guard let text = redaction.text(of: data, type: type) else {
      self = .raw(data)
      return
    }
    let shown = Data(text.utf8)
    let isObject = text.utf8.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } ?? false
    let value = isObject ? try? JSONDecoder().decode(JSONValue.self, from: shown) : nil  // otherwise plain text
    self = value.map { .json($0) } ?? .bytes(shown)
  }

  fileprivate func difference(from recorded: ReplayRequest.Body) -> String? {
    switch (self, recorded) {
    case (.unknown(let reason), _): "body: \(reason)"
    case (_, .unknown(let reason)): "body: the recorded body is not available: \(reason)"
    case (.json(let mine), .json(let other)) where mine.matches(other): nil
    case _ where self == recorded: nil
    default: "body: '\(shown)' instead of '\(recorded.shown)'"
    }
  }

  private var shown: String {
    switch self {
    case .bytes(let data): String(data: data, encoding: .utf8)?.onOneLine.shortened ?? "<\(data.count) bytes>"
    case .raw(let data): "<\(data.count) bytes>"
    case .json(let value): "\(value)".shortened
    case .unknown(let reason): reason
    }
  }
}

extension JSONValue {
  /// Whether a value is the recorded one. A string that the recording hides matches any value.
  fileprivate func matches(_ recorded: JSONValue) -> Bool {
    switch (self, recorded) {
    case (_, .string(Redaction.mark)): true
    case (.object(let mine), .object(let other)):
      mine.count == other.count && mine.allSatisfy { key, value in other[key].map { value.matches($0) } ?? false }
    case (.array(let mine), .array(let other)):
      mine.count == other.count && zip(mine, other).allSatisfy { $0.matches($1) }
    default: self == recorded
    }
  }
}

extension HTTPHeaders {
  fileprivate func joined(_ name: HTTPHeaderName) -> String { values(for: name).joined(separator: ", ") }
}
