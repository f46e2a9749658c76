/// The query of a URL: names and values in order, escaped when they are written.
///
///     var query: HTTPQuery { ["q": text, "page": "\(page)"] }
///
/// Every byte outside of the unreserved set of RFC 3986 §2.3 is percent-encoded, `+`, `&` and `=` included, so a
/// value arrives as it was given. Order is kept and names may repeat.
public struct HTTPQuery: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One `name=value`; without a value, only `name` is written.
  public struct Item: Sendable, Hashable {
    /// The name, unescaped.
    public var name: String
    /// The value, unescaped.
    public var value: String?

    /// An item by name and value, unescaped.
    public init(_ name: String, _ value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// The items in order.
  public var items: [Item]

  /// An empty query.
  public init() { items = [] }

  /// The given items, in order.
  public init(_ items: [Item]) { self.items = items }

  /// The items of the literal, in order.
  public init(dictionaryLiteral elements: (String, String?)...) { items = elements.map { Item($0, $1) } }

  /// True when there is nothing to write.
  public var isEmpty: Bool { items.isEmpty }

  /// Adds an item at the end.
  public mutating func add(_ name: String, _ value: String?) { items.append(Item(name, value)) }

  /// The query as it stands in a URL, without the question mark.
  public var encoded: String {
    items.map { item in
      let name = Self.escaped(item.name)
      return item.value.map { "\(name)=\(Self.escaped($0))" } ?? name
    }.joined(separator: "&")
  }

  /// `text` with every byte but the unreserved ones (RFC 3986 §2.3) percent-encoded, for a part of a path as well:
  /// `"users/\(HTTPQuery.escaped(name))"`.
  public static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
