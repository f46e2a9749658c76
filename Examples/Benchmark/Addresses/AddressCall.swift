import Errand
import ErrandFoundation
import ErrandTesting

/// A call to a host that the policy must block, or that it may allow in some cases.
struct AddressCall: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// A non-public address in one of many notations.
    case literal
    /// A name that resolves differently each time.
    case name
    /// A public host that redirects to a non-public address or to a name that resolves differently each time.
    case redirect
    /// A non-public address or name through a proxy.
    case proxy
  }

  let kind: Kind
  let url: URL
  /// The target of a redirect.
  let target: URL?
  /// Whether the call must fail because none of its targets is public.
  let isForbidden: Bool

  var urls: [URL] { [url] + (target.map { [$0] } ?? []) }

  static func random(_ dice: inout Dice) -> AddressCall {
    let kind = Kind.allCases.randomElement(using: &dice) ?? .literal
    let literal = "http://\(literalHost(&dice))/"
    let name =
      Int.random(in: 0..<4, using: &dice) == 0 ? "inner.test" : "turn-\(Int.random(in: 0..<200, using: &dice)).test"
    let isLiteral = Bool.random(using: &dice)
    let either = isLiteral ? literal : "http://\(name)/"
    let isForbidden = isLiteral || name == "inner.test"
    switch kind {
    case .literal: return AddressCall(kind, literal, isForbidden: true)
    case .name: return AddressCall(kind, "http://\(name)/", isForbidden: name == "inner.test")
    case .redirect:
      let path = either.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      return AddressCall(kind, "http://93.184.215.14/to/\(path)", to: either, isForbidden: isForbidden)
    case .proxy:
      // Calls to any name through a proxy are rejected. Calls to a public address through a proxy are allowed.
      let isPublic = Int.random(in: 0..<4, using: &dice) == 0
      return AddressCall(kind, isPublic ? "http://93.184.215.14/" : either, isForbidden: !isPublic)
    }
  }

  private init(_ kind: Kind, _ url: String, to target: String? = nil, isForbidden: Bool) {
    self.kind = kind
    self.url = URL(string: url) ?? URL(fileURLWithPath: "/")
    self.target = target.flatMap { URL(string: $0) }
    self.isForbidden = isForbidden
  }

  /// Returns a special-purpose address in a random notation.
  private static func literalHost(_ dice: inout Dice) -> String {
    let inner = [
      "127.0.0.1", "127.9.8.7", "10.0.0.1", "169.254.169.254", "172.16.3.4", "192.168.1.1", "100.64.0.1", "0.0.0.0",
    ]
    let bytes = (inner.randomElement(using: &dice) ?? "").split(separator: ".").compactMap { UInt32($0) }
    let number = bytes.reduce(0) { $0 << 8 | $1 }
    let pairs = String(number >> 16, radix: 16) + ":" + String(number & 0xFFFF, radix: 16)
    let spellings = [
      bytes.map { "\($0)" }.joined(separator: "."), "0x" + String(number, radix: 16), "\(number)",
      bytes.map { "0" + String($0, radix: 8) }.joined(separator: "."), "\(bytes[0]).\(number & 0xFFFFFF)",
      bytes.map { "0X" + String($0, radix: 16) }.joined(separator: "."), "\(bytes[0]).\(bytes[1]).\(number & 0xFFFF)",
      "[::ffff:\(pairs)]", "[::\(pairs)]", "[64:ff9b::\(pairs)]", "[2002:\(pairs)::1]", "[::1]", "[::]", "[fe80::1]",
      "[fd00::1]",
      "localhost", "LOCALHOST.", "inner.localhost",
    ]
    return spellings.randomElement(using: &dice) ?? ""
  }

  /// Makes the call. Returns `success` or the name of its error.
  func end(on server: Server) async -> String {
    do {
      let data = try await URLTask(url).on(server).downloadData()
      return data == Data("public".utf8) ? "success" : "another body"
    } catch let error as TaskError {
      return error.code.name
    } catch {
      return "\(type(of: error))"
    }
  }
}
