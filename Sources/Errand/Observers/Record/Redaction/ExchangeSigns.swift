/// Finds names that identify a text as part of an OAuth exchange, in which `code` is a secret (RFC 6749 §4.1).
struct ExchangeSigns: Sendable {
  /// Whether a member or an element is named `grant_type`, `redirect_uri`, `code_verifier` or `client_secret`.
  private(set) var inMembers = false
  /// Whether JSON inside a string has a member with one of these names.
  private(set) var inStrings = false
  /// Whether a parameter has one of these names, or is named `state`.
  private(set) var inParameters = false
  private(set) var hasState = false

  init(_ text: some Collection<UInt8>) {
    var word: [UInt8] = []
    var (before, bytesBefore) = ((UInt8(0), UInt8(0)), (UInt8(0), UInt8(0)))
    for byte in text {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        if word.isEmpty { before = bytesBefore }
        if word.count <= Self.longest { word.append(byte | 0x20) }
      case UInt8(ascii: "-"), UInt8(ascii: "_"): break
      default:
        note(word, after: before, before: byte)
        word.removeAll(keepingCapacity: true)
      }
      bytesBefore = (bytesBefore.1, byte)
    }
    note(word, after: before, before: 0)
  }

  private mutating func note(_ word: [UInt8], after: (UInt8, UInt8), before: UInt8) {
    guard word.count >= Self.state.count, word.count <= Self.longest else { return }
    let isState = word == Self.state
    guard isState || Self.names.contains(word) else { return }
    if "=%".utf8.contains(before) { inParameters = true }
    guard "\"'<:".utf8.contains(after.1) else { return }
    if isState {
      hasState = true
    } else if after.0 == UInt8(ascii: "\\") {
      inStrings = true
    } else {
      inMembers = true
    }
  }

  private static let state = Array("state".utf8)
  private static let names = Set(
    ["granttype", "redirecturi", "redirecturl", "codeverifier", "clientsecret", "sessionstate"].map { Array($0.utf8) })
  private static let longest = 13
}
