/// How a value's name determines whether the value is hidden.
enum SecretKind: Sendable {
  case plain
  case secret
  /// The plural of a secret. Strings are hidden, but a number is a count, as in `total_tokens`.
  case plural
  /// `key`, which is used for API keys and many other things. Whether it is hidden depends on its value.
  case key
  /// `code`, which is secret in an OAuth exchange. Elsewhere, it can be an error code, a country code or a product
  /// code.
  case code

  /// The names that are secret only in some contexts, in folded form.
  static let ambiguous: [[UInt8]: SecretKind] = [
    Array("key".utf8): .key, Array("tokenid".utf8): .key, Array("code".utf8): .code,
  ]

  /// Whether a parameter's value in a query, form or plain text is hidden.
  func hidesParameter(_ value: some Collection<UInt8>, _ signs: @autoclosure () -> ExchangeSigns) -> Bool {
    switch self {
    case .plain: false
    case .secret, .plural, .key: true
    case .code: !Self.isShortCode(value) || signs().inParameters
    }
  }

  func hidesElement(_ text: some Collection<UInt8>, _ signs: @autoclosure () -> ExchangeSigns) -> Bool {
    switch self {
    case .plain: false
    case .secret, .plural: true
    case .key: !Self.isPlainKey(text)
    case .code: signs().inMembers
    }
  }

  /// Whether a JSON member's value is hidden. `text` is the value if it is a string, otherwise `nil`. `signs` come from
  /// the surrounding text.
  func hidesMember(
    _ text: ArraySlice<UInt8>?, _ signs: @autoclosure () -> ExchangeSigns, isInString: Bool = false
  ) -> Bool {
    switch self {
    case .plain: return false
    case .secret, .plural: return true
    case .key: return text.map { !Self.isPlainKey($0) } ?? false
    case .code:
      let signs = signs()
      return (isInString ? signs.inStrings : signs.inMembers) || signs.hasState && text.map(Self.looksRandom) ?? false
    }
  }

  /// Whether a code is too short and simple to be an OAuth code, such as `DE`, `404` or `NAME_UNKNOWN`.
  private static func isShortCode(_ value: some Collection<UInt8>) -> Bool {
    value.count <= 12 && !value.isEmpty
      && value.allSatisfy { isDigit($0) || (0x41...0x5A).contains($0) || "_-.".utf8.contains($0) }
  }

  /// Whether a key is a name rather than an API key, as in `{"key":"colour","value":"red"}` and `{"key":"PROJ-7"}`.
  private static func isPlainKey(_ value: some Collection<UInt8>) -> Bool {
    isShortCode(value) || value.count <= 40 && !value.contains(where: isDigit)
  }

  /// Whether a string looks random: at least 16 characters without whitespace, with either letters and at least three
  /// digits, or a digit and letters of both cases.
  private static func looksRandom(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.count >= 16, !value.contains(where: { $0 <= 0x20 }) else { return false }
    let digits = value.count(where: isDigit)
    let (small, capital) = (
      value.contains { (0x61...0x7A).contains($0) }, value.contains { (0x41...0x5A).contains($0) }
    )
    return digits >= 3 ? small || capital : digits > 0 && small && capital
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
