/// The names whose values are hidden. They are matched as bytes, because text from a peer can contain a name at every
/// second byte.
struct SecretNames: Sendable {
  private let names: Set<[UInt8]>
  private let parts: [[UInt8]]
  private let endings: [[UInt8]]
  /// For each byte, whether a name that ends with it may have a secret ending.
  private let mayEnd: [Bool]
  let filter: SecretFilter
  /// A cache of header fields, because most messages contain the same few.
  private let known = Known()

  private final class Known: Sendable {
    struct State {
      var fields: [HTTPHeaderName: Bool] = [:]
      /// Fields with nothing to hide in the most recent messages, by hash.
      var plain: [HTTPHeaders.Field?] = Array(repeating: nil, count: 64)
      /// The number of learned names when the cache was filled. A new name invalidates the cache.
      var learned = 0
    }

    let state = Lock(State())
  }

  /// The maximum number of cached names, because the peer can send any number of names.
  private static let room = 500

  init(_ names: Set<String>, parts: Set<String>, endings: Set<String> = []) {
    self.names = Set(names.map { Self.folded($0.utf8) })
    self.parts = parts.map { Self.folded($0.utf8) }
    self.endings = endings.map { Self.folded($0.utf8) }.filter { !$0.isEmpty }
    var mayEnd = Array(repeating: false, count: 256)
    for byte in (self.endings + Self.tails).compactMap(\.last) + Array("0123456789".utf8) { mayEnd[Int(byte)] = true }
    self.mayEnd = mayEnd
    filter = SecretFilter(self.names, parts: self.parts + self.endings)
  }

  /// Whether a single pass shows that the text contains nothing to hide.
  func clears(_ text: String) -> Bool { LearnedSecrets.count == 0 && filter.clears(text) }

  func clears(_ bytes: UnsafeRawBufferPointer) -> Bool { LearnedSecrets.count == 0 && filter.clears(bytes) }

  /// Returns the cached result of `decide` for a header field. `decide` must always return the same result.
  func remembering(_ field: HTTPHeaderName, _ decide: () -> Bool) -> Bool {
    let learned = LearnedSecrets.count
    let remembered = known.state.withLock { state in
      if state.learned != learned { state = Known.State(learned: learned) }
      return state.fields[field]
    }
    if let remembered { return remembered }
    let isSecret = decide()
    known.state.withLock { state in
      if state.learned == learned, state.fields.count < Self.room { state.fields[field] = isSecret }
    }
    return isSecret
  }

  /// Whether a field is cached as containing nothing to hide.
  func knows(plain field: HTTPHeaders.Field) -> Bool {
    let (learned, place) = (LearnedSecrets.count, field.placeAmongPlain)
    return known.state.withLock { $0.learned == learned && $0.plain[place] == field }
  }

  /// Caches a field that contains nothing to hide according to these names. Replaces a cached field with the same hash.
  func remember(plain field: HTTPHeaders.Field) {
    let (learned, place) = (LearnedSecrets.count, field.placeAmongPlain)
    guard learned == 0, field.value.utf8.count <= Self.longest else { return }
    known.state.withLock { state in
      if state.learned != learned { state = Known.State(learned: learned) }
      state.plain[place] = field
    }
  }

  /// The maximum length of a cached value, in bytes.
  private static let longest = 200

  var isEmpty: Bool { names.isEmpty && parts.isEmpty && endings.isEmpty }

  func kind(of name: some Collection<UInt8>) -> SecretKind {
    guard !isEmpty, !name.isEmpty else { return .plain }
    let name = Self.folded(name)
    let kind = kind(ofWhole: name)
    return kind == .plain ? self.kind(ofNested: name) : kind
  }

  private func kind(ofWhole name: [UInt8]) -> SecretKind {
    if hasPart(name) || LearnedSecrets.contains(name) { return .secret }
    if names.contains(name) { return SecretKind.ambiguous[name] ?? .secret }
    guard hasEnding(name) else { return .plain }
    return name.last == UInt8(ascii: "s") && !name.hasEnding("ss") ? .plural : .secret
  }

  /// Returns the kind of a name that consists of several parts. It is secret if one of its parts is secret, as in
  /// `login[pwd]`, `login.pwd`, `pins[0]` and `<ns:pwd>`.
  private func kind(ofNested name: [UInt8]) -> SecretKind {
    guard name.contains(where: Self.isDivider) else { return .plain }
    var result = SecretKind.plain
    var isExchange = false
    for part in name.split(whereSeparator: Self.isDivider).lazy.map(Array.init) {
      switch kind(ofWhole: part) {
      case .plain: isExchange = isExchange || Self.exchanges.contains(part)
      case .code where !isExchange: result = .code
      case .key: result = .key
      default: return .secret
      }
    }
    return result
  }

  /// The names of objects that hold the code of an OAuth exchange.
  private static let exchanges = Set(["oauth", "oauth2", "grant", "oidc", "openid"].map { Array($0.utf8) })

  private static func isDivider(_ byte: UInt8) -> Bool { "[].:".utf8.contains(byte) }

  /// Whether a name is enough to identify a secret in plain text, as in `token: …` and `session: …`, but not `key: …`.
  func isTelling(_ name: some Collection<UInt8>) -> Bool {
    guard !isEmpty, !name.isEmpty else { return false }
    let name = Self.folded(name)
    return hasPart(name) || hasEnding(name) || (name.count >= 6 && names.contains(name))
  }

  /// Whether a name ends with a secret's name (`accessToken`), optionally followed by a qualifier
  /// (`passwordConfirmation`).
  private func hasEnding(_ name: [UInt8]) -> Bool {
    guard let last = name.last, mayEnd[Int(last)] else { return false }
    return ends(name) || Self.withoutTail(name).map(ends) ?? false
  }

  private func ends(_ name: ArraySlice<UInt8>) -> Bool {
    endings.contains { name.hasEnding($0) } && !Self.harmless.contains { name.hasEnding($0) }
  }

  private func ends(_ name: [UInt8]) -> Bool { ends(name[...]) }

  private static func withoutTail(_ name: [UInt8]) -> ArraySlice<UInt8>? {
    let digits = name.reversed().prefix { (0x30...0x39).contains($0) }.count
    if digits > 0 { return name.dropLast(digits) }
    return tails.first { name.hasEnding($0) }.map { name.dropLast($0.count) }
  }

  /// The qualifiers that may follow a secret's name.
  private static let tails = [
    "value", "string", "text", "data", "hash", "digest", "confirmation", "confirm", "confirmed", "repeat", "repeated",
    "again", "new", "old", "current", "plain", "raw", "encrypted", "pem", "header", "binary", "input",
  ].map { Array($0.utf8) }

  /// The names of pagination and sync tokens, which don't grant access.
  private static let harmless = [
    "pagetoken", "nexttoken", "previoustoken", "prevtoken", "continuationtoken", "synctoken", "skiptoken", "deltatoken",
    "startingtoken", "paginationtoken", "cursortoken", "changetoken", "resumptiontoken",
  ].map { Array($0.utf8) }

  private func hasPart(_ name: [UInt8]) -> Bool { parts.contains { Self.holds(name, $0) } }

  private static func holds(_ name: [UInt8], _ part: [UInt8]) -> Bool {
    guard let initial = part.first, part.count <= name.count else { return part.isEmpty }
    var start = 0
    while start + part.count <= name.count {
      if name[start] == initial, name[start..<start + part.count].elementsEqual(part) { return true }
      start += 1
    }
    return false
  }

  /// Returns the name in lowercase, without `-`, `_` and surrounding whitespace.
  static func folded(_ name: some Collection<UInt8>) -> [UInt8] {
    let name = letters(name)
    guard let first = name.first, let last = name.last, first <= 0x20 || last <= 0x20 else { return name }
    guard let start = name.firstIndex(where: { $0 > 0x20 }), let end = name.lastIndex(where: { $0 > 0x20 }) else {
      return name
    }
    return Array(name[start...end])
  }

  private static func letters(_ name: some Collection<UInt8>) -> [UInt8] {
    var folded: [UInt8] = []
    folded.reserveCapacity(name.count)
    for byte in name {
      switch byte {
      case UInt8(ascii: "-"), UInt8(ascii: "_"): break
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): folded.append(byte | 0x20)
      case 0x80...0xFF: return foldedText(name)
      default: folded.append(byte)
      }
    }
    return folded
  }

  private static func foldedText(_ name: some Collection<UInt8>) -> [UInt8] {
    let text = String(decoding: name, as: UTF8.self).lowercased()
    return text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
  }
}

extension HTTPHeaders.Field {
  /// The slot of the field in the cache: a cheap hash below 64.
  fileprivate var placeAmongPlain: Int {
    let bytes = value.utf8
    let sign = Int(bytes.first ?? 0) &* 7 ^ Int(bytes.last ?? 0)
    return (name.rawName.utf8.count &* 11 ^ bytes.count &* 5 ^ sign) & 63
  }
}

extension BidirectionalCollection<UInt8> {
  fileprivate func hasEnding(_ ending: some BidirectionalCollection<UInt8>) -> Bool {
    count >= ending.count && suffix(ending.count).elementsEqual(ending)
  }

  fileprivate func hasEnding(_ ending: StaticString) -> Bool {
    ending.withUTF8Buffer { hasEnding($0) }
  }
}
