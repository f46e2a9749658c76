/// The names whose values are hidden, matched byte by byte: text of a peer's may have a name at every second byte.
struct SecretNames: Sendable {
  private let names: Set<[UInt8]>
  private let parts: [[UInt8]]
  private let filter: SecretFilter
  /// Whether fields are secret that were asked for: mostly the same few, again and again.
  private let known = Known()

  private final class Known: Sendable {
    struct State {
      var fields: [HTTPHeaderName: Bool] = [:]
      /// Fields that are shown as they are: those of the last messages, by place.
      var plain: [HTTPHeaders.Field?] = Array(repeating: nil, count: 64)
      /// The number of names that were learned until then: another one may be any of these.
      var learned = 0
    }

    let state = Lock(State())
  }

  /// The most names that are remembered; a peer may make up any number.
  private static let room = 500

  init(_ names: Set<String>, parts: Set<String>) {
    self.names = Set(names.map { Self.folded($0.utf8) })
    self.parts = parts.map { Self.folded($0.utf8) }
    filter = SecretFilter(self.names, parts: self.parts)
  }

  /// True for text in which nothing is hidden, as far as one pass over it tells.
  func clears(_ text: String) -> Bool { LearnedSecrets.count == 0 && filter.clears(text) }

  /// True for the bytes of such text.
  func clears(_ bytes: UnsafeRawBufferPointer) -> Bool { LearnedSecrets.count == 0 && filter.clears(bytes) }

  /// What `decide` says of a header field, which has to be the same every time.
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

  /// True for a field that was remembered as plain: most come with each message.
  func knows(plain field: HTTPHeaders.Field) -> Bool {
    let (learned, place) = (LearnedSecrets.count, field.placeAmongPlain)
    return known.state.withLock { $0.learned == learned && $0.plain[place] == field }
  }

  /// Remembers a field that was found plain by these names alone, in the place of another one.
  func remember(plain field: HTTPHeaders.Field) {
    let (learned, place) = (LearnedSecrets.count, field.placeAmongPlain)
    guard learned == 0, field.value.utf8.count <= Self.longest else { return }
    known.state.withLock { state in
      if state.learned != learned { state = Known.State(learned: learned) }
      state.plain[place] = field
    }
  }

  /// The most bytes of a value that is remembered.
  private static let longest = 200

  var isEmpty: Bool { names.isEmpty && parts.isEmpty }

  /// True for a name that is secret, or a part of which is; `isPair` where its value stands behind an equals sign.
  func contains(_ name: some Collection<UInt8>, isPair: Bool = false) -> Bool {
    guard !isEmpty, !name.isEmpty else { return false }
    let name = Self.folded(name)
    return isWhole(name) || hasPart(name) || isNested(name, isPair)
  }

  /// True for the name of the reason for a refusal, which is secret elsewhere.
  func isReason(_ name: some Collection<UInt8>) -> Bool {
    let name = Self.folded(name)
    return name == Self.code && !hasPart(name) && !LearnedSecrets.contains(name)
  }

  private func isWhole(_ name: [UInt8]) -> Bool { names.contains(name) || LearnedSecrets.contains(name) }

  /// True for the name of a value within others one of which is secret: `login[pwd]`, `login.pwd`, `pins[0]`, `<ns:pwd>`. The code of
  /// an error or a status is none but in forms: `error.code`, `<soap:Code>`.
  private func isNested(_ name: [UInt8], _ isPair: Bool) -> Bool {
    guard name.contains(where: Self.isDivider) else { return false }
    var isReport = false
    for part in name.split(whereSeparator: Self.isDivider).lazy.map(Array.init) {
      let isReason = isReport && !isPair && part == Self.code && !LearnedSecrets.contains(part)
      if !isReason, isWhole(part) { return true }
      if !isReport { isReport = Self.reports.contains(part) }
    }
    return false
  }

  private static let code = Array("code".utf8)
  /// What holds the code of an error or a status.
  private static let reports = Set(
    ["error", "errors", "fault", "status", "response", "result", "problem", "soap", "soapenv", "env", "s"]
      .map { Array($0.utf8) })

  private static func isDivider(_ byte: UInt8) -> Bool { "[].:".utf8.contains(byte) }

  /// True for a name a part of which is secret.
  func containsPart(of name: some Collection<UInt8>) -> Bool {
    guard !parts.isEmpty, !name.isEmpty else { return false }
    return hasPart(Self.folded(name))
  }

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

  /// In small letters, without `-`, `_` and blanks around it.
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
  /// The place at which it is remembered, one of 64: by what is told of it at once.
  fileprivate var placeAmongPlain: Int {
    let bytes = value.utf8
    let sign = Int(bytes.first ?? 0) &* 7 ^ Int(bytes.last ?? 0)
    return (name.rawName.utf8.count &* 11 ^ bytes.count &* 5 ^ sign) & 63
  }
}
